package org.gramian.evaluate.compare;

import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;

/** Mean and standard deviation of every metric over the folds of one protocol. */
public record FoldSummary(Map<Metric, Spread> spreads) {
    /**
     * Mean and standard deviation of one metric.
     *
     * @param deviation sample standard deviation {@code sqrt(sum (x - mean)² / (n - 1))}; empty for one fold. Folds share
     *     training images, so it is not a standard error
     */
    public record Spread(int count, double mean, OptionalDouble deviation) {
        /** Summarizes at least one value. */
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

        /** Returns e.g. {@code 75.3 ± 2.9}, or {@code 75.3} for one fold, in the units of the metric. */
        public String text(Metric metric) {
            String shown = metric.show(mean);
            return deviation.isEmpty() ? shown : shown + " ± " + metric.show(deviation.getAsDouble());
        }
    }

    public FoldSummary {
        spreads = Collections.unmodifiableMap(new EnumMap<>(spreads));
    }

    /** Summarizes at least one fold. */
    public static FoldSummary of(List<Evaluation> folds) {
        if (folds.isEmpty()) {
            throw new IllegalArgumentException("expected folds to summarize, found none");
        }
        Evaluation first = folds.getFirst();
        Set<Setting> seen = new HashSet<>();
        for (Evaluation fold : folds) {
            if (!fold.setting().fingerprint().equals(first.setting().fingerprint())
                    || !fold.classes().equals(first.classes())) {
                throw new IllegalArgumentException("expected folds of one split of one dataset, found "
                        + first.setting() + " and " + fold.setting()
                        + ": their mean would mix different tasks");
            }
            if (!seen.add(fold.setting())) {
                throw new IllegalArgumentException("expected every fold once per seed, found " + fold.setting()
                        + " and seed " + fold.setting().seed() + " twice");
            }
        }
        Map<Metric, Spread> spreads = new EnumMap<>(Metric.class);
        for (Metric metric : Metric.values()) {
            spreads.put(metric, Spread.of(folds.stream().map(metric::of).toList()));
        }
        return new FoldSummary(spreads);
    }

    public Spread spread(Metric metric) {
        return Objects.requireNonNull(spreads.get(metric)); // it has all metrics
    }

    /** Returns e.g. {@code 75.3 ± 2.9}. */
    public String text(Metric metric) {
        return spread(metric).text(metric);
    }
}
