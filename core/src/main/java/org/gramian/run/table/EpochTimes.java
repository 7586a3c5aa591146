package org.gramian.run.table;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.gramian.basis.AtomicTextFile;
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

    private static final int STAGE = 1;

    private record Epoch(int fold, int number) {}

    private final Path file;
    private final LongSupplier nanoseconds;
    private final SortedMap<Epoch, Double> seconds =
            new TreeMap<>(Comparator.comparingInt(Epoch::fold).thenComparingInt(Epoch::number));
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
            try (CsvReader<NamedCsvRecord> rows = CsvReader.builder().ofNamedCsvRecord(times.file)) {
                rows.forEach(row -> times.seconds.put(
                        new Epoch(Integer.parseInt(row.getField("fold")), Integer.parseInt(row.getField("epoch"))),
                        Double.parseDouble(row.getField("seconds"))));
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
            case EpochDone done -> ended(done);
            default -> {}
        }
    }

    private void ended(EpochDone done) {
        long now = nanoseconds.getAsLong();
        if (whole && done.stage() == STAGE) {
            seconds.put(new Epoch(fold, done.epoch() + 1), (now - mark) / 1e9);
            write();
        }
        mark = now;
        whole = true;
    }

    private void write() {
        try {
            AtomicTextFile.write(file, text -> {
                text.write("fold,epoch,seconds\n");
                for (var one : seconds.entrySet()) {
                    text.write(String.format(
                            Locale.ROOT,
                            "%d,%d,%.6f\n",
                            one.getKey().fold(),
                            one.getKey().number(),
                            one.getValue()));
                }
            });
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
