package org.gramian.evaluate.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;

/**
 * Comparison of two models over the same folds: the metrics of each, and one {@link PairedTest} over all images.
 *
 * @param repeated number of repeated test images over the folds; the test counts them as independent, so its p-value is too small
 */
public record Comparison(FoldSummary first, FoldSummary second, PairedTest test, int repeated) {
    /**
     * Compares two models, fold by fold.
     *
     * @param first at least one fold
     * @param second the same folds in any order
     */
    public static Comparison of(List<Evaluation> first, List<Evaluation> second) {
        FoldSummary firstSummary = FoldSummary.of(first);
        FoldSummary secondSummary = FoldSummary.of(second);
        PairedTest.requireSameSplit(
                first.getFirst().setting(), second.getFirst().setting());
        Map<String, Evaluation> firstFolds = byFold(first);
        Map<String, Evaluation> secondFolds = byFold(second);
        PairedTest.requireSameNames(firstFolds.keySet(), secondFolds.keySet(), "were evaluated on different folds");
        PairedTest test = firstFolds.entrySet().stream()
                .map(fold -> PairedTest.of(fold.getValue(), Objects.requireNonNull(secondFolds.get(fold.getKey()))))
                .reduce(PairedTest::plus)
                .orElseThrow();
        return new Comparison(firstSummary, secondSummary, test, repeated(first));
    }

    private static Map<String, Evaluation> byFold(List<Evaluation> folds) {
        Map<String, Evaluation> byName = new LinkedHashMap<>();
        for (Evaluation fold : folds) {
            if (byName.put(fold.setting().fold(), fold) != null) {
                throw PairedTest.notComparable(
                        "one of them holds the fold '" + fold.setting().fold() + "' twice");
            }
        }
        return byName;
    }

    private static int repeated(List<Evaluation> folds) {
        Stream<String> names =
                folds.stream().flatMap(fold -> fold.predictions().stream().map(ImagePrediction::name));
        long different = names.distinct().count();
        int all = folds.stream().mapToInt(fold -> fold.predictions().size()).sum();
        return (int) (all - different);
    }
}
