package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.Output;

/** Counts the images and errors of a job while it writes them, with Spark's accumulators. */
final class ImageCounters {
    /** Column of errors. */
    static final String ERROR = "error";

    /** Column of their kinds. */
    static final String KIND = "error_kind";

    private static final String IMAGES = "images";

    private final Observation observation = new Observation("gramian");
    private final Instant start = Instant.now();
    private final String prefix;

    /** @param prefix of both columns */
    ImageCounters(String prefix) {
        this.prefix = prefix;
    }

    /**
     * The counted values.
     *
     * @param errorColumn name of the column of errors
     * @param images number of images
     * @param errors number of errors by kind
     * @param time since these counters were created
     */
    record Counted(String errorColumn, long images, Map<String, Long> errors, Duration time) {
        long failed() {
            return errors.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Returns lines for the terminal. */
        String text(String place) {
            double seconds = Math.max(time.toMillis(), 1) / 1e3;
            String all = String.format(
                    Locale.ROOT, "%s: %,d images in %.1f s, %.1f images/s%n", place, images, seconds, images / seconds);
            if (errors.isEmpty()) {
                return all;
            }
            String kinds = errors.entrySet().stream()
                    .map(entry -> String.format(Locale.ROOT, "%,d %s", entry.getValue(), entry.getKey()))
                    .collect(Collectors.joining(", "));
            return all
                    + String.format(
                            Locale.ROOT,
                            "%,d of them are unreadable, see column '%s': %s%n",
                            failed(),
                            errorColumn,
                            kinds);
        }
    }

    /** Returns rows with a column of kinds that are counted when they are written. */
    Dataset<Row> observed(Dataset<Row> rows) {
        Column found = ImageColumn.named(prefix + KIND);
        List<Column> kinds = new ArrayList<>();
        for (String kind : Output.ERROR_KINDS) {
            kinds.add(count(when(found.equalTo(kind), 1)).as(kind));
        }
        return rows.observe(observation, count(lit(1)).as(IMAGES), kinds.toArray(Column[]::new));
    }

    /** Returns the counters after all rows are written. */
    Counted counted() throws InterruptedException {
        Map<String, Object> found = observation.getAsJava();
        Map<String, Long> errors = new TreeMap<>();
        for (String kind : Output.ERROR_KINDS) {
            long number = (Long) found.getOrDefault(kind, 0L);
            if (number > 0) {
                errors.put(kind, number);
            }
        }
        return new Counted(
                prefix + ERROR, (Long) found.getOrDefault(IMAGES, 0L), errors, Duration.between(start, Instant.now()));
    }
}
