package org.gramian.evaluate;

import java.util.List;
import java.util.OptionalDouble;

/**
 * Mean and spread of one number over folds.
 *
 * @param count how many folds
 * @param mean their mean
 * @param deviation their sample standard deviation {@code sqrt(sum (x - mean)² / (n - 1))}; none for one fold. Folds share
 *     training images, so it shows how results vary and is no standard error
 */
public record Spread(int count, double mean, OptionalDouble deviation) {
    /** Of at least one value. */
    public static Spread of(List<Double> values) {
        double mean = values.stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElseThrow(() -> new IllegalArgumentException("expected values to summarize, found none"));
        if (values.size() == 1) {
            return new Spread(1, mean, OptionalDouble.empty());
        }
        double squares = values.stream()
                .mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        return new Spread(values.size(), mean, OptionalDouble.of(Math.sqrt(squares / (values.size() - 1))));
    }

    /** As {@code 75.3 ± 2.9}, or {@code 75.3} for one fold, in the units of the metric. */
    public String text(Metric metric) {
        String shown = metric.show(mean);
        return deviation.isEmpty() ? shown : shown + " ± " + metric.show(deviation.getAsDouble());
    }
}
