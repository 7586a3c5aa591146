package org.gramian.cli;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;

/** The ways in which {@code gramian nearest} shows the training images that others resemble. */
sealed interface NearestLines {
    /** The names of the ways. */
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

    /**
     * A training image that another resembles.
     *
     * @param name as in its dataset
     * @param label the name of its class
     * @param distance of the descriptors, from 0 to about 2
     */
    record Resembled(String name, String label, double distance) {}

    /** What comes before all images. */
    void begin();

    /** What an image resembles, the nearest first. */
    void found(String image, List<Resembled> nearest);

    void failed(String image, String reason);

    /** For people: the image, and below it a line for each that it resembles. */
    record Table(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String image, List<Resembled> nearest) {
            out.println(QuotedText.visible(image));
            int width = nearest.stream()
                    .mapToInt(one -> QuotedText.visible(one.label).length())
                    .max()
                    .orElse(0);
            for (Resembled one : nearest) {
                String label = QuotedText.visible(one.label);
                out.printf(
                        Locale.ROOT,
                        "  %.3f  %s%s  %s%n",
                        one.distance,
                        label,
                        " ".repeat(width - label.length()),
                        QuotedText.visible(one.name));
            }
        }

        @Override
        public void failed(String image, String reason) {
            out.println(QuotedText.visible(image));
            out.println("  ERROR: " + QuotedText.visible(reason));
        }
    }

    /** For programs: one JSON object in each line. */
    record Json(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String image, List<Resembled> nearest) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", image);
            line.put("nearest", nearest.stream().map(Json::object).toList());
            out.println(JsonText.of(line));
        }

        private static Map<String, Object> object(Resembled one) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("name", one.name);
            object.put("class", one.label);
            object.put("distance", one.distance);
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

    /** For tables: {@code image,rank,name,class,distance,error}, a line for each that an image resembles. */
    record Csv(CsvWriter csv) implements NearestLines {
        @Override
        public void begin() {
            csv.writeRecord("picture", "rank", "name", "class", "distance", "error");
        }

        @Override
        public void found(String image, List<Resembled> nearest) {
            for (int i = 0; i < nearest.size(); i++) {
                Resembled one = nearest.get(i);
                csv.writeRecord(image, Integer.toString(i + 1), one.name, one.label, Double.toString(one.distance), "");
            }
        }

        @Override
        public void failed(String image, String reason) {
            csv.writeRecord(image, "", "", "", "", reason);
        }
    }
}
