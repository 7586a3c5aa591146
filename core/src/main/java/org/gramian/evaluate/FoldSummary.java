package org.gramian.evaluate;

import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All numbers over the folds of one protocol, each fold with the same weight.
 *
 * @param spreads mean and spread of every metric
 */
public record FoldSummary(Map<Metric, Spread> spreads) {
    public FoldSummary {
        spreads = Collections.unmodifiableMap(new EnumMap<>(spreads));
    }

    /**
     * Over at least one fold.
     *
     * @throws IllegalArgumentException if they are not of one division, or one is there twice under the same seed
     */
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

    /** Mean and spread of a metric. */
    public Spread spread(Metric metric) {
        Spread spread = spreads.get(metric);
        if (spread == null) {
            throw new IllegalArgumentException("expected one of " + spreads.keySet() + ", found " + metric);
        }
        return spread;
    }

    /** As {@code 75.3 ± 2.9}. */
    public String text(Metric metric) {
        return spread(metric).text(metric);
    }
}
