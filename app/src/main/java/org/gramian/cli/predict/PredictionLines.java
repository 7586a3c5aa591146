package org.gramian.cli.predict;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.model.Prediction;

/** Output formats of {@code gramian predict}: a line for each image, as soon as it is computed. */
public sealed interface PredictionLines {
    /** Class name of a rejected prediction. */
    String UNKNOWN = "unknown";

    /**
     * Prediction of one image as it is printed.
     *
     * @param name the most probable class, or {@value #UNKNOWN} if it was rejected
     * @param probability of the most probable class, also if it was rejected
     * @param top the most probable classes
     * @param rejected whether the probability is below the threshold
     */
    record Row(String name, double probability, List<Prediction.ClassProbability> top, boolean rejected) {
        /**
         * @param count number of classes to print
         * @param reject threshold of the probability
         */
        static Row of(Prediction prediction, int count, double reject) {
            boolean rejected = prediction.probability() < reject;
            return new Row(
                    rejected ? UNKNOWN : prediction.className(),
                    prediction.probability(),
                    prediction.top(count),
                    rejected);
        }
    }

    /** Names of the formats. */
    enum Format {
        TABLE,
        JSONL,
        CSV;

        /**
         * @param widest length of the longest known image name
         * @param top number of classes to print
         */
        PredictionLines of(PrintWriter out, int widest, int top) {
            return switch (this) {
                case TABLE -> new Table(out, Math.min(widest, Table.WIDEST));
                case JSONL -> new Json(out);
                case CSV ->
                    new Csv(
                            CsvWriter.builder()
                                    .lineDelimiter(LineDelimiter.LF)
                                    .bufferSize(0)
                                    .build(out),
                            top);
            };
        }
    }

    /** Writes the header. */
    void begin();

    void predicted(String image, Row row);

    void failed(String image, String reason);

    /** Text: the image, then its most probable classes with probabilities. */
    record Table(PrintWriter out, int width) implements PredictionLines {
        private static final int WIDEST = 60;

        @Override
        public void begin() {}

        @Override
        public void predicted(String image, Row row) {
            StringBuilder line = new StringBuilder(named(image));
            line.append(row.rejected() ? UNKNOWN + "  (best: " : "");
            for (int i = 0; i < row.top().size(); i++) {
                Prediction.ClassProbability candidate = row.top().get(i);
                line.append(i == 0 ? "" : ", ")
                        .append(QuotedText.visible(candidate.name()))
                        .append(String.format(Locale.ROOT, " %.1f %%", 100 * candidate.probability()));
            }
            out.println(line.append(row.rejected() ? ")" : ""));
        }

        @Override
        public void failed(String image, String reason) {
            out.println(named(image) + "ERROR: " + QuotedText.visible(reason));
        }

        private String named(String image) {
            String visible = QuotedText.visible(image);
            return visible + " ".repeat(Math.max(0, width - visible.length()) + 2);
        }
    }

    /** JSON Lines: one object per image. */
    record Json(PrintWriter out) implements PredictionLines {
        @Override
        public void begin() {}

        @Override
        public void predicted(String image, Row row) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", image);
            line.put("class", row.name());
            line.put("probability", row.probability());
            line.put("top", row.top().stream().map(Json::object).toList());
            out.println(JsonText.of(line));
        }

        private static Map<String, Object> object(Prediction.ClassProbability candidate) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("class", candidate.name());
            object.put("probability", candidate.probability());
            return object;
        }

        @Override
        public void failed(String image, String reason) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", image);
            line.put("error", reason);
            out.println(JsonText.of(line));
        }
    }

    /** CSV: {@code picture,class,probability,class_1,probability_1,…,error}. */
    record Csv(CsvWriter csv, int top) implements PredictionLines {
        @Override
        public void begin() {
            List<String> names = new ArrayList<>(List.of("picture", "class", "probability"));
            for (int i = 1; i <= top; i++) {
                names.add("class_" + i);
                names.add("probability_" + i);
            }
            names.add("error");
            csv.writeRecord(names);
        }

        @Override
        public void predicted(String image, Row row) {
            List<String> fields = new ArrayList<>(List.of(image, row.name(), Double.toString(row.probability())));
            for (Prediction.ClassProbability candidate : row.top()) {
                fields.add(candidate.name());
                fields.add(Double.toString(candidate.probability()));
            }
            fields.add("");
            csv.writeRecord(fields);
        }

        @Override
        public void failed(String image, String reason) {
            List<String> fields = new ArrayList<>(List.of(image));
            for (int i = 0; i < 2 + 2 * top; i++) {
                fields.add("");
            }
            fields.add(reason);
            csv.writeRecord(fields);
        }
    }
}
