package org.gramian.evaluate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Two models held against each other over the same folds: the numbers of each, and one {@link PairedTest} over all images.
 *
 * @param first mean and spread of the first model's numbers
 * @param second those of the second
 * @param test the images of all folds as of one test
 * @param repeated how often an image was tested again in a further fold. The test takes these for
 *     different images and so believes too much in what it finds
 */
public record Comparison(FoldSummary first, FoldSummary second, PairedTest test, int repeated) {
    /**
     * Between the folds of two models, matched by name.
     *
     * @param first at least one
     * @param second the same folds in any order
     * @throws IllegalArgumentException with the reason, if comparing them would mean nothing
     */
    public static Comparison of(List<Evaluation> first, List<Evaluation> second) {
        FoldSummary firstSummary = FoldSummary.of(first);
        FoldSummary secondSummary = FoldSummary.of(second);
        Pairing.requireSameDivision(
                first.getFirst().setting(), second.getFirst().setting());
        Map<String, Evaluation> firstFolds = byFold(first);
        Map<String, Evaluation> secondFolds = byFold(second);
        List<String> onlyFirst = Pairing.without(firstFolds.keySet(), secondFolds.keySet());
        List<String> onlySecond = Pairing.without(secondFolds.keySet(), firstFolds.keySet());
        if (!onlyFirst.isEmpty() || !onlySecond.isEmpty()) {
            throw Pairing.refused("they were evaluated on different folds: the first lacks " + Pairing.shown(onlySecond)
                    + ", the second lacks " + Pairing.shown(onlyFirst));
        }
        PairedTest test = firstFolds.entrySet().stream()
                .map(fold -> PairedTest.of(fold.getValue(), Objects.requireNonNull(secondFolds.get(fold.getKey()))))
                .reduce(PairedTest::plus)
                .orElseThrow();
        return new Comparison(firstSummary, secondSummary, test, repeated(first));
    }

    /** A fold that is there under two seeds is two runs; which is to be held against which cannot be known. */
    private static Map<String, Evaluation> byFold(List<Evaluation> folds) {
        Map<String, Evaluation> byName = new LinkedHashMap<>();
        for (Evaluation fold : folds) {
            if (byName.put(fold.setting().fold(), fold) != null) {
                throw Pairing.refused(
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
