package org.gramian.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.gramian.basis.AtomicFile;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;

/**
 * Times of the epochs of stage 1, validation included, collected from the events of a run and stored as {@value #FILE} in its
 * folder for a resumed table. An interrupted epoch has no time.
 */
final class EpochTimes implements Consumer<TrainEvent> {
    static final String FILE = "times.csv";

    private static final String HEADER = "fold,epoch,seconds";

    private final Path file;
    private final LongSupplier nanoseconds;
    /** Seconds by {@code fold,epoch}. */
    private final SortedMap<String, Double> seconds = new TreeMap<>();

    private int fold;
    private long mark;
    private boolean fresh;
    private boolean whole;

    private EpochTimes(Path file, LongSupplier nanoseconds) {
        this.file = file;
        this.nanoseconds = nanoseconds;
    }

    /** Reads the times of a run folder; empty without the file. */
    static EpochTimes open(Path folder) throws IOException {
        return open(folder, System::nanoTime);
    }

    static EpochTimes open(Path folder, LongSupplier nanoseconds) throws IOException {
        EpochTimes times = new EpochTimes(folder.resolve(FILE), nanoseconds);
        if (Files.exists(times.file)) {
            try {
                Files.readAllLines(times.file).stream().skip(1).forEach(line -> {
                    int comma = line.lastIndexOf(',');
                    times.seconds.put(line.substring(0, comma), Double.parseDouble(line.substring(comma + 1)));
                });
            } catch (RuntimeException damaged) {
                throw new IOException(
                        times.file + ": expected epoch times written by this program, found: " + damaged.getMessage()
                                + "; remove the file: nothing else is lost",
                        damaged);
            }
        }
        return times;
    }

    @Override
    public void accept(TrainEvent event) {
        switch (event) {
            case TrainEvent.FoldStarted started -> fold = started.number();
            case StageStarted _ -> {
                mark = nanoseconds.getAsLong();
                fresh = true;
                whole = true;
            }
            case Stepped step -> {
                whole &= !fresh || step.step() == 1;
                fresh = false;
            }
            case EpochDone done -> {
                long now = nanoseconds.getAsLong();
                if (whole && done.stage() == 1) {
                    seconds.put(fold + "," + (done.epoch() + 1), (now - mark) / 1e9);
                    write();
                }
                mark = now;
                whole = true;
            }
            default -> {}
        }
    }

    private void write() {
        StringBuilder text = new StringBuilder(HEADER + "\n");
        seconds.forEach((epoch, took) -> text.append(String.format(Locale.ROOT, "%s,%.6f\n", epoch, took)));
        try {
            AtomicFile.putText(file, out -> out.write(text.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the median: only the first epoch reads features from disk. */
    OptionalDouble perEpoch() {
        double[] sorted = seconds.values().stream()
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
    }
}
