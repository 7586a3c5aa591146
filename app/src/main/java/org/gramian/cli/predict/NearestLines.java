package org.gramian.cli.predict;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.gallery.NearestImages.Match;

/** Output formats of {@code gramian nearest}. */
sealed interface NearestLines {
    /** Names of the formats. */
    enum Format {
        TABLE,
        JSONL,
        CSV;

        NearestLines of(PrintWriter out) {
            return switch (this) {
                case TABLE -> new Table(out);
                case JSONL -> new Json(out);
                case CSV ->
                    new Csv(CsvWriter.builder()
                            .lineDelimiter(LineDelimiter.LF)
                            .bufferSize(0)
                            .build(out));
            };
        }
    }

    /** Writes the header. */
    void begin();

    /** Writes the matches of an image, the nearest first. */
    void found(String image, List<Match> nearest);

    void failed(String image, String reason);

    /** Text: the image, and below it a line for each match. */
    record Table(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String image, List<Match> nearest) {
            out.println(QuotedText.visible(image));
            int width = nearest.stream()
                    .mapToInt(one -> QuotedText.visible(one.className()).length())
                    .max()
                    .orElse(0);
            for (Match one : nearest) {
                String label = QuotedText.visible(one.className());
                out.printf(
                        Locale.ROOT,
                        "  %.3f  %s%s  %s%n",
                        one.distance(),
                        label,
                        " ".repeat(width - label.length()),
                        QuotedText.visible(one.name()));
            }
        }

        @Override
        public void failed(String image, String reason) {
            out.println(QuotedText.visible(image));
            out.println("  ERROR: " + QuotedText.visible(reason));
        }
    }

    /** JSON Lines: one object per image. */
    record Json(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String image, List<Match> nearest) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", image);
            line.put("nearest", nearest.stream().map(Json::object).toList());
            out.println(JsonText.of(line));
        }

        private static Map<String, Object> object(Match one) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("name", one.name());
            object.put("class", one.className());
            object.put("distance", one.distance());
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

    /** CSV: {@code picture,rank,name,class,distance,error}, a line for each match. */
    record Csv(CsvWriter csv) implements NearestLines {
        @Override
        public void begin() {
            csv.writeRecord("picture", "rank", "name", "class", "distance", "error");
        }

        @Override
        public void found(String image, List<Match> nearest) {
            for (int i = 0; i < nearest.size(); i++) {
                Match one = nearest.get(i);
                csv.writeRecord(
                        image,
                        Integer.toString(i + 1),
                        one.name(),
                        one.className(),
                        Double.toString(one.distance()),
                        "");
            }
        }

        @Override
        public void failed(String image, String reason) {
            csv.writeRecord(image, "", "", "", "", reason);
        }
    }
}
