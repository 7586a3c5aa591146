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
import org.gramian.spark.executor.Columns;
import org.gramian.spark.executor.Output;

/**
 * How many images a job went through and what was wrong with some, counted on the way by Spark's accumulators: nothing is read
 * twice for it.
 */
final class ImageCounters {
    /** The column of reasons. */
    static final String ERROR = "error";

    /** The column of their kinds. */
    static final String KIND = "error_kind";

    private static final String PICTURES = "pictures";

    private final Observation observation = new Observation("gramian");
    private final Instant start = Instant.now();
    private final String prefix;

    /** @param prefix of the names of both columns */
    ImageCounters(String prefix) {
        this.prefix = prefix;
    }

    /**
     * The counted values.
     *
     * @param reasons the column that has them
     * @param images all of them
     * @param errors how many of each kind
     * @param time since the tally was made
     */
    record Counted(String reasons, long images, Map<String, Long> errors, Duration time) {
        long failed() {
            return errors.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Lines for people. */
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
                            Locale.ROOT, "%,d of them are unreadable, see column '%s': %s%n", failed(), reasons, kinds);
        }
    }

    /** Rows with a column of kinds, which are counted when they are written. */
    Dataset<Row> watched(Dataset<Row> rows) {
        Column found = Columns.named(prefix + KIND);
        List<Column> kinds = new ArrayList<>();
        for (String kind : Output.ERROR_KINDS) {
            kinds.add(count(when(found.equalTo(kind), 1)).as(kind));
        }
        return rows.observe(observation, count(lit(1)).as(PICTURES), kinds.toArray(Column[]::new));
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
                prefix + ERROR,
                (Long) found.getOrDefault(PICTURES, 0L),
                errors,
                Duration.between(start, Instant.now()));
    }
}
