package org.gramian.cli.train;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.cli.common.Columns;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;

/**
 * The numbers of several folds as text for the terminal: a line per metric, with mean, standard deviation and, of few folds,
 * those of each fold.
 */
public record FoldTable(List<Evaluation> folds) {
    /** More folds are not shown one by one. */
    private static final int FOLDS = 6;

    public FoldTable {
        folds = List.copyOf(folds);
    }

    public String text() {
        FoldSummary summary = FoldSummary.of(folds);
        boolean all = folds.size() <= FOLDS;
        List<String> head = new ArrayList<>(List.of("over " + folds.size() + " folds", "mean ± std"));
        if (all) {
            folds.forEach(fold -> head.add(fold.setting().fold()));
        }
        Columns rows = new Columns().row(head);
        for (Metric metric : metrics(folds.getFirst().classes().size())) {
            List<String> cells = new ArrayList<>(List.of(name(metric), summary.text(metric)));
            if (all) {
                folds.forEach(fold -> cells.add(metric.show(metric.of(fold))));
            }
            rows.row(cells);
        }
        return rows.toString();
    }

    /** Those that say something of so many classes: the first five are all of five. */
    static List<Metric> metrics(int classes) {
        return Arrays.stream(Metric.values())
                .filter(metric -> metric != Metric.TOP_5 || classes > 5)
                .toList();
    }

    /** With its unit. */
    static String name(Metric metric) {
        return switch (metric) {
            case ACCURACY, TOP_5, BALANCED_ACCURACY, MACRO_F1, CALIBRATION_ERROR -> metric.text() + " %";
            case LOG_LOSS, BRIER -> metric.text();
        };
    }
}
