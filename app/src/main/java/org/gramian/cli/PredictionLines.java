package org.gramian.cli;

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
import org.gramian.model.Answer;

/** The ways in which {@code gramian predict} shows its results: a line for each image, as soon as it is known. */
sealed interface PredictionLines {
    /** The names of the ways. */
    enum Format {
        TABLE,
        JSONL,
        CSV;

        /**
         * @param widest characters of the longest image's name, as far as is known
         * @param top classes to be named
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

    /** What comes before all images. */
    void begin();

    void answered(String image, PredictionRow said);

    void failed(String image, String reason);

    /** For people: the image, what it shows, how likely that is, and what else it might be. */
    record Table(PrintWriter out, int width) implements PredictionLines {
        private static final int WIDEST = 60;

        @Override
        public void begin() {}

        @Override
        public void answered(String image, PredictionRow said) {
            StringBuilder line = new StringBuilder(named(image));
            line.append(said.rejected() ? PredictionRow.UNKNOWN + "  (best: " : "");
            for (int i = 0; i < said.top().size(); i++) {
                Answer.Guess guess = said.top().get(i);
                line.append(i == 0 ? "" : ", ")
                        .append(QuotedText.visible(guess.name()))
                        .append(String.format(Locale.ROOT, " %.1f %%", 100 * guess.probability()));
            }
            out.println(line.append(said.rejected() ? ")" : ""));
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

    /** For programs: one JSON object in each line. */
    record Json(PrintWriter out) implements PredictionLines {
        @Override
        public void begin() {}

        @Override
        public void answered(String image, PredictionRow said) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", image);
            line.put("class", said.name());
            line.put("probability", said.probability());
            line.put("top", said.top().stream().map(Json::object).toList());
            out.println(JsonText.of(line));
        }

        private static Map<String, Object> object(Answer.Guess guess) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("class", guess.name());
            object.put("probability", guess.probability());
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

    /** For tables: {@code image,class,probability,class_1,probability_1,…,error}. */
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
        public void answered(String image, PredictionRow said) {
            List<String> fields = new ArrayList<>(List.of(image, said.name(), Double.toString(said.probability())));
            for (Answer.Guess guess : said.top()) {
                fields.add(guess.name());
                fields.add(Double.toString(guess.probability()));
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
