package org.gramian.evaluate;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;

/**
 * Two evaluations brought together image by image, or refused with the reason why comparing them would mean nothing.
 *
 * @param rows of each image, whether the first and whether the second was right
 */
record Pairing(List<Row> rows) {
    private static final String ADVICE = "; evaluate both models on the same dataset with the same protocol and seed";

    /** One image. */
    record Row(boolean first, boolean second) {}

    static Pairing of(Evaluation first, Evaluation second) {
        requireSameDivision(first.setting(), second.setting());
        if (!first.setting().fold().equals(second.setting().fold())) {
            throw refused(
                    "the first was evaluated on the fold '" + first.setting().fold() + "', the second on '"
                            + second.setting().fold() + "': different images of the same split");
        }
        if (!Set.copyOf(first.classes()).equals(Set.copyOf(second.classes()))) {
            throw refused("the first has the classes " + shown(first.classes()) + ", the second "
                    + shown(second.classes()) + ": they solve different tasks");
        }
        requireSameNames(first, second);
        // Both are in the order of their names.
        return new Pairing(IntStream.range(0, first.predictions().size())
                .mapToObj(i -> row(first, second, i))
                .toList());
    }

    static void requireSameDivision(Setting first, Setting second) {
        if (!first.fingerprint().equals(second.fingerprint())) {
            throw refused("the first was evaluated under " + first + ", the second under " + second
                    + ": different images, labels or splits, so a difference could come from these"
                    + " as well as from the models");
        }
    }

    private static void requireSameNames(Evaluation first, Evaluation second) {
        Set<String> firstNames = names(first);
        Set<String> secondNames = names(second);
        List<String> onlyFirst = without(firstNames, secondNames);
        List<String> onlySecond = without(secondNames, firstNames);
        if (!onlyFirst.isEmpty() || !onlySecond.isEmpty()) {
            throw refused("they predict different images: the first lacks " + shown(onlySecond) + ", the second lacks "
                    + shown(onlyFirst));
        }
    }

    private static Set<String> names(Evaluation evaluation) {
        return evaluation.predictions().stream().map(ImagePrediction::name).collect(Collectors.toSet());
    }

    static List<String> without(Set<String> names, Set<String> others) {
        return names.stream().filter(name -> !others.contains(name)).sorted().toList();
    }

    private static Row row(Evaluation first, Evaluation second, int index) {
        ImagePrediction one = first.predictions().get(index);
        ImagePrediction other = second.predictions().get(index);
        String truth = first.classes().get(one.truth());
        String otherTruth = second.classes().get(other.truth());
        if (!truth.equals(otherTruth)) {
            throw refused(QuotedText.text(one.name()) + " is of class " + QuotedText.text(truth) + " in the first and "
                    + QuotedText.text(otherTruth) + " in the second");
        }
        return new Row(one.right(), other.right());
    }

    static String shown(List<String> names) {
        return names.isEmpty()
                ? "none"
                : NameList.some(names.stream().map(QuotedText::text).toList());
    }

    static IllegalArgumentException refused(String reason) {
        return new IllegalArgumentException("these results cannot be compared: " + reason + ADVICE);
    }

    PairedTest test() {
        return new PairedTest(count(true, true), count(true, false), count(false, true), count(false, false));
    }

    private int count(boolean first, boolean second) {
        return (int) rows.stream().filter(new Row(first, second)::equals).count();
    }
}
