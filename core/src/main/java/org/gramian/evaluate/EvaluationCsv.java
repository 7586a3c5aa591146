package org.gramian.evaluate;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.gramian.basis.AtomicTextFile;

/** Tables of an evaluation for spreadsheets and data frames: UTF-8, commas, a point in every number, {@code \n} lines. */
public final class EvaluationCsv {
    /** The first field of a confusion matrix: its orientation. */
    static final String CORNER = "truth (rows) / prediction (columns)";

    private EvaluationCsv() {}

    /**
     * Writes every prediction, as {@link PredictionTable} describes it; the probabilities are those under the
     * evaluation's temperature.
     */
    public static void writePredictions(Path path, Evaluation evaluation) throws IOException {
        PredictionTable table = PredictionTable.of(evaluation);
        write(path, rows -> {
            rows.accept(table.header());
            table.rows().forEach(row -> rows.accept(row.fields()));
        });
    }

    /**
     * Writes a confusion matrix: a header with the predicted classes, then a line per true class; the first field of the
     * header says so.
     */
    public static void writeConfusion(Path path, ConfusionMatrix confusion) throws IOException {
        write(path, rows -> {
            rows.accept(line(CORNER, confusion.classes()));
            for (int k = 0; k < confusion.classes().size(); k++) {
                rows.accept(line(confusion.classes().get(k), confusion.counts().get(k)));
            }
        });
    }

    private static List<String> line(String first, List<?> others) {
        List<String> line = new ArrayList<>();
        line.add(first);
        others.forEach(other -> line.add(other.toString()));
        return line;
    }

    private static void write(Path path, Consumer<Consumer<List<String>>> content) throws IOException {
        AtomicTextFile.write(path, text -> {
            CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
            content.accept(csv::writeRecord);
            csv.flush();
        });
    }
}
