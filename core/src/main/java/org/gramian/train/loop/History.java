package org.gramian.train.loop;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.RegularFile;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.jspecify.annotations.Nullable;

/** History of a training as a CSV file with one line per epoch, rewritten atomically after each. */
public final class History {
    private static final List<String> HEADER = List.of(
            "stage", "epoch", "rate", "loss", "accuracy", "judged_error", "judged_loss", "best", "orthogonality");

    private final @Nullable Path file;
    private final List<EpochDone> epochs;

    private History(@Nullable Path file, List<EpochDone> epochs) {
        this.file = file;
        this.epochs = epochs;
    }

    static History inMemory() {
        return new History(null, new ArrayList<>());
    }

    public static History open(Path file) throws IOException {
        List<EpochDone> epochs = new ArrayList<>();
        if (Files.exists(file)) {
            RegularFile.attributes(file);
            try (CsvReader<NamedCsvRecord> rows = CsvReader.builder().ofNamedCsvRecord(file)) {
                rows.forEach(row -> epochs.add(epoch(row)));
            } catch (RuntimeException damaged) {
                throw new IOException(
                        file + ": expected a history written by 'gramian train', found another or a damaged file",
                        damaged);
            }
        }
        return new History(file, epochs);
    }

    private static EpochDone epoch(NamedCsvRecord row) {
        return new EpochDone(
                Integer.parseInt(row.getField("stage")),
                Integer.parseInt(row.getField("epoch")) - 1,
                number(row, "rate"),
                number(row, "loss"),
                number(row, "accuracy"),
                number(row, "judged_error"),
                number(row, "judged_loss"),
                Boolean.parseBoolean(row.getField("best")),
                orthogonality(row));
    }

    private static OptionalDouble orthogonality(NamedCsvRecord row) {
        String text = row.getField("orthogonality");
        return text.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(text));
    }

    private static double number(NamedCsvRecord row, String field) {
        return Double.parseDouble(row.getField(field));
    }

    public List<EpochDone> epochs() {
        return List.copyOf(epochs);
    }

    /** Adds an epoch, in place of it and later ones of an interrupted run. */
    public void add(EpochDone done) throws IOException {
        epochs.removeIf(former ->
                former.stage() > done.stage() || (former.stage() == done.stage() && former.epoch() >= done.epoch()));
        epochs.add(done);
        if (file == null) {
            return;
        }
        AtomicFile.putText(file, text -> {
            CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
            csv.writeRecord(HEADER);
            epochs.forEach(epoch -> csv.writeRecord(row(epoch)));
            csv.flush();
        });
    }

    private static List<String> row(EpochDone epoch) {
        return List.of(
                Integer.toString(epoch.stage()),
                Integer.toString(epoch.epoch() + 1),
                Double.toString(epoch.learningRate()),
                Double.toString(epoch.loss()),
                Double.toString(epoch.accuracy()),
                Double.toString(epoch.validationError()),
                Double.toString(epoch.validationLoss()),
                Boolean.toString(epoch.best()),
                epoch.orthogonality().isPresent()
                        ? Double.toString(epoch.orthogonality().getAsDouble())
                        : "");
    }
}
