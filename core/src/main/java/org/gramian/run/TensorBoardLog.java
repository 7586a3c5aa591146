package org.gramian.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.Set;
import java.util.zip.CRC32C;
import org.gramian.basis.Protobuf.Writer;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.jspecify.annotations.Nullable;

/**
 * Writes the epochs of a fold as scalars for TensorBoard. The step of a scalar is the epoch, counted from 1 in each stage; its
 * tag names the stage, as {@code stage1/loss/train}.
 *
 * <p>An event file is a sequence of TFRecords, {@code length (u64), masked CRC32C of length, data, masked CRC32C of data} in
 * little-endian order, whose data are protocol-buffer messages. Only these fields are written:
 *
 * <pre>
 * Event          1 wall_time (double)   2 step (int64)   3 file_version (string)   5 summary (Summary)
 * Summary        1 value (Value)
 * Summary.Value  1 tag (string)         2 simple_value (float)
 * </pre>
 *
 * <p>A resumed run writes another file beside the earlier ones, which TensorBoard reads in the order of their names. Epochs that
 * the history has are not written again.
 *
 * @see <a href="https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto">event.proto</a>
 */
final class TensorBoardLog {
    /** Folder of the event files in that of a fold. */
    static final String FOLDER = "tensorboard";

    /** An epoch that a file holds. */
    private record Written(int stage, int epoch) {}

    private final Path folder;
    private final boolean validated;
    private final InstantSource time;
    private final StageClock clock;
    private final Set<Written> written = new HashSet<>();
    private @Nullable Path file;

    /**
     * Opens the log of a fold. A file is created with the first epoch.
     *
     * @param validated whether there is a validation set; without one, epochs are compared by training loss
     * @param history epochs that an interrupted run wrote; it repeats those after its last checkpoint
     */
    TensorBoardLog(Path fold, boolean validated, InstantSource time, List<EpochDone> history) {
        this.folder = fold.resolve(FOLDER);
        this.validated = validated;
        this.time = time;
        this.clock = new StageClock(time);
        history.forEach(done -> written.add(new Written(done.stage(), done.epoch())));
    }

    /** Measures the speed, and writes epochs that have ended. */
    void accept(TrainEvent event) {
        switch (event) {
            case StageStarted started -> clock.started(started);
            case Stepped step -> clock.stepped(step);
            case EpochDone done -> {
                clock.epochDone();
                try {
                    add(done);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            default -> {}
        }
    }

    private void add(EpochDone done) throws IOException {
        if (!written.add(new Written(done.stage(), done.epoch()))) {
            return;
        }
        Path present = file;
        if (present == null) {
            present = create();
            file = present;
        }
        // One record in one write: TensorBoard, which may read meanwhile, sees an epoch whole.
        Files.write(present, record(event(seconds(), done.epoch() + 1L, scalars(done))), StandardOpenOption.APPEND);
    }

    private SequencedMap<String, Double> scalars(EpochDone done) {
        String stage = "stage" + done.stage() + "/";
        SequencedMap<String, Double> scalars = new LinkedHashMap<>();
        scalars.put(stage + "loss/train", done.loss());
        scalars.put(stage + "accuracy/train", done.accuracy());
        if (validated) {
            scalars.put(stage + "loss/validation", done.validationLoss());
            scalars.put(stage + "accuracy/validation", 1 - done.validationError());
        }
        scalars.put(stage + "learning_rate", done.learningRate());
        clock.imagesPerSecond().ifPresent(speed -> scalars.put(stage + "images_per_second", speed));
        return scalars;
    }

    private double seconds() {
        return time.millis() / 1e3;
    }

    /** Creates a file whose name follows those of earlier ones in the order of names. */
    private Path create() throws IOException {
        Files.createDirectories(folder);
        String name = String.format(Locale.ROOT, "events.out.tfevents.%010d.%s", time.millis() / 1000, host());
        byte[] version = record(version(seconds()));
        for (int number = 0; ; number++) {
            Path next = folder.resolve(number == 0 ? name : name + "." + number);
            try {
                return Files.write(next, version, StandardOpenOption.CREATE_NEW);
            } catch (FileAlreadyExistsException _) {
                // resumed within a second
            }
        }
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9._-]", "_");
        } catch (UnknownHostException _) {
            return "localhost";
        }
    }

    /** The first event of a file. */
    static byte[] version(double wallTime) {
        return new Writer().float64(1, wallTime).text(3, "brain.Event:2").toBytes();
    }

    /** An event with scalars by tag. */
    static byte[] event(double wallTime, long step, SequencedMap<String, Double> scalars) {
        Writer summary = new Writer();
        scalars.forEach(
                (tag, scalar) -> summary.message(1, new Writer().text(1, tag).float32(2, scalar.floatValue())));
        return new Writer()
                .float64(1, wallTime)
                .integer(2, step)
                .message(5, summary)
                .toBytes();
    }

    /** Frames data as a TFRecord. */
    static byte[] record(byte[] data) {
        ByteBuffer record = ByteBuffer.allocate(Long.BYTES + Integer.BYTES + data.length + Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        record.putLong(data.length);
        record.putInt(maskedChecksum(record.array(), Long.BYTES));
        record.put(data);
        record.putInt(maskedChecksum(data, data.length));
        return record.array();
    }

    /** CRC32C, rotated right by 15 bits, plus a constant: a CRC of data that contain their CRC would be weak. */
    private static int maskedChecksum(byte[] bytes, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, 0, length);
        return Integer.rotateRight((int) checksum.getValue(), 15) + 0xa282ead8;
    }
}
