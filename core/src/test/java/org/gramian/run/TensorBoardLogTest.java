package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.gramian.basis.Protobuf.Message;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.History;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorBoardLogTest {
    @TempDir
    private Path folder = Path.of("");

    /** An event as a reader finds it. */
    private record Event(double wallTime, long step, String version, Map<String, Float> scalars) {}

    private static List<Path> files(Path fold) throws IOException {
        Path board = fold.resolve("tensorboard");
        if (!Files.exists(board)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(board)) {
            return all.sorted().toList();
        }
    }

    /** Reads a file as the specification says, checksums included. */
    private static List<Event> events(Path file) throws IOException {
        List<Event> events = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            byte[] length = new byte[8];
            bytes.get(length);
            assertThat(bytes.getInt()).isEqualTo(masked(length));
            byte[] data = new byte
                    [Math.toIntExact(ByteBuffer.wrap(length)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getLong())];
            bytes.get(data);
            assertThat(bytes.getInt()).isEqualTo(masked(data));
            events.add(event(data));
        }
        return events;
    }

    private static int masked(byte[] data) {
        CRC32C checksum = new CRC32C();
        checksum.update(data);
        long value = checksum.getValue();
        return (int) (((value >>> 15) | (value << 17)) + 0xa282ead8L);
    }

    private static Event event(byte[] data) {
        Message event = new Message(MemorySegment.ofArray(data));
        Map<String, Float> scalars = new LinkedHashMap<>();
        event.message(5).messages(1).forEach(value -> scalars.put(value.text(1), value.floats(2, 1)[0]));
        double wallTime = event.bytes(1).get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 0);
        return new Event(wallTime, event.integer(2, 0), event.text(3), scalars);
    }

    /** The same bytes as {@code RecordWriter} of TensorBoard 2.21 writes for the same events. */
    @Test
    void recordsEqualTensorBoard() {
        assertThat(HexFormat.of().formatHex(TensorBoardLog.record(TensorBoardLog.version(1.5e9))))
                .isEqualTo("1800000000000000a37f4b2209000000c00b5ad6411a0d627261696e2e4576656e743a324ca9a464");
        LinkedHashMap<String, Double> scalars = new LinkedHashMap<>();
        scalars.put("stage1/loss/train", 0.5);
        scalars.put("stage1/accuracy/train", 0.75);
        assertThat(HexFormat.of().formatHex(TensorBoardLog.record(TensorBoardLog.event(1500000000.25, 3, scalars))))
                .isEqualTo(
                        "4500000000000000ebe668b009000010c00b5ad64110032a380a180a117374616765312f6c6f73732f747261696e"
                                + "150000003f0a1c0a157374616765312f61636375726163792f747261696e150000403fc3e25a42");
    }

    private SmallRun run(double validation) throws IOException {
        return SmallRun.in(folder)
                .with("data.protocol", Protocol.parse("holdout:0.3"))
                .with("data.validation", validation)
                .with("stage1.epochs", 3)
                .with("stage2.epochs", 1)
                .with("tensorboard", true);
    }

    /** The scalars of an epoch as the history has it; the speed is not in it. */
    private static Map<String, Float> scalars(EpochDone done, boolean validated) {
        String stage = "stage" + done.stage() + "/";
        Map<String, Float> scalars = new LinkedHashMap<>();
        scalars.put(stage + "loss/train", (float) done.loss());
        scalars.put(stage + "accuracy/train", (float) done.accuracy());
        if (validated) {
            scalars.put(stage + "loss/validation", (float) done.validationLoss());
            scalars.put(stage + "accuracy/validation", (float) (1 - done.validationError()));
        }
        scalars.put(stage + "learning_rate", (float) done.learningRate());
        return scalars;
    }

    private static void requireHistory(Path run, boolean validated) throws IOException {
        List<Event> written = new ArrayList<>();
        for (Path file : files(run)) {
            List<Event> events = events(file);
            assertThat(events.getFirst().version()).isEqualTo("brain.Event:2");
            written.addAll(events.subList(1, events.size()));
        }
        List<EpochDone> epochs = History.open(run.resolve("history.csv")).epochs();
        assertThat(epochs).hasSize(4);
        assertThat(written).hasSameSizeAs(epochs);
        for (int i = 0; i < epochs.size(); i++) {
            assertThat(written.get(i).step()).isEqualTo(epochs.get(i).epoch() + 1);
            assertThat(written.get(i).wallTime()).isCloseTo(System.currentTimeMillis() / 1e3, within(600.0));
            Map<String, Float> found = new LinkedHashMap<>(written.get(i).scalars());
            Float speed = found.remove("stage" + epochs.get(i).stage() + "/images_per_second");
            assertThat(speed == null || speed > 0).isTrue();
            assertThat(found).isEqualTo(scalars(epochs.get(i), validated));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.34})
    void scalarsEqualHistory(double validation) throws IOException, InterruptedException {
        SmallRun run = run(validation);
        run.trainer().train(run.place());
        requireHistory(run.place(), validation > 0);
        assertThat(files(run.place()))
                .singleElement()
                .satisfies(file -> assertThat(file.getFileName())
                        .asString()
                        .matches("events\\.out\\.tfevents\\.\\d{10}\\.[A-Za-z0-9._-]+"));
    }

    @Test
    void resumedRunAddsAFileWithoutRepeatedEpochs() throws IOException, InterruptedException {
        SmallRun run = run(0.34);
        Cancellation breaks = Cancellation.onRequest();
        Consumer<TrainEvent> stop = event -> {
            if (event instanceof Stepped step && step.epoch() == 2) {
                breaks.cancel();
            }
        };
        run.trainer(stop, breaks).train(run.place());
        assertThat(files(run.place())).hasSize(1);
        run.trainer().train(run.place());
        assertThat(files(run.place())).hasSize(2);
        requireHistory(run.place(), true);
        run.trainer().train(run.place());
        assertThat(files(run.place())).as("nothing was left to train").hasSize(2);
    }
}
