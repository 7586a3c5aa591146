package org.gramian.cli;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.Found;
import org.gramian.basis.JsonText;

/** The ways in which {@code gramian nearest} shows the training pictures that others resemble. */
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
     * A training picture that another resembles.
     *
     * @param name as in its data set
     * @param label the name of its class
     * @param distance of the descriptors, from 0 to about 2
     */
    record Resembled(String name, String label, double distance) {}

    /** What comes before all pictures. */
    void begin();

    /** What a picture resembles, the nearest first. */
    void found(String picture, List<Resembled> nearest);

    void failed(String picture, String reason);

    /** For people: the picture, and below it a line for each that it resembles. */
    record Table(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String picture, List<Resembled> nearest) {
            out.println(Found.visible(picture));
            int width = nearest.stream()
                    .mapToInt(one -> Found.visible(one.label).length())
                    .max()
                    .orElse(0);
            for (Resembled one : nearest) {
                String label = Found.visible(one.label);
                out.printf(
                        Locale.ROOT,
                        "  %.3f  %s%s  %s%n",
                        one.distance,
                        label,
                        " ".repeat(width - label.length()),
                        Found.visible(one.name));
            }
        }

        @Override
        public void failed(String picture, String reason) {
            out.println(Found.visible(picture));
            out.println("  ERROR: " + Found.visible(reason));
        }
    }

    /** For programs: one JSON object in each line. */
    record Json(PrintWriter out) implements NearestLines {
        @Override
        public void begin() {}

        @Override
        public void found(String picture, List<Resembled> nearest) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", picture);
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
        public void failed(String picture, String reason) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("picture", picture);
            line.put("error", reason);
            out.println(JsonText.of(line));
        }
    }

    /** For tables: {@code picture,rank,name,class,distance,error}, a line for each that a picture resembles. */
    record Csv(CsvWriter csv) implements NearestLines {
        @Override
        public void begin() {
            csv.writeRecord("picture", "rank", "name", "class", "distance", "error");
        }

        @Override
        public void found(String picture, List<Resembled> nearest) {
            for (int i = 0; i < nearest.size(); i++) {
                Resembled one = nearest.get(i);
                csv.writeRecord(
                        picture, Integer.toString(i + 1), one.name, one.label, Double.toString(one.distance), "");
            }
        }

        @Override
        public void failed(String picture, String reason) {
            csv.writeRecord(picture, "", "", "", "", reason);
        }
    }
}
