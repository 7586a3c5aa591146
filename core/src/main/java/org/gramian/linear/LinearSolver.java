package org.gramian.linear;

import java.util.List;
import org.gramian.basis.NearestWord;

/**
 * A linear classifier that is solved for: rows {@code [n, d]} with labels to a weight {@code [k, d]} and a bias {@code
 * [k]}, the highest of whose scores {@code z = v·Wᵀ + b} decides.
 *
 * <p>The same rows give the same bits on the processor of one machine; how many threads work plays no part.
 */
public sealed interface LinearSolver permits Svm, NearestMean, Lda {
    /** The words that texts begin with. */
    List<String> WORDS = List.of(Svm.WORD, NearestMean.WORD, Lda.WORD);

    /** What solvers are called and mean, for help. */
    List<String> FORMS = List.of(Svm.FORM, NearestMean.FORM, Lda.FORM);

    /** The text that {@link #parse} reads back. */
    String text();

    /**
     * Makes sure that there is room for a problem, before its rows are there.
     *
     * @throws IllegalArgumentException if there is not; the message says how much it would take and what to try
     */
    void requireRoom(long rows, long size);

    /**
     * Finds the classifier.
     *
     * @param watch told how far it is; may throw, which stops it at once
     * @throws IllegalArgumentException if there is no room for it, see {@link #requireRoom}, or no such classifier
     */
    LinearModel solve(LabelledRows rows, SolveWatch watch);

    /**
     * Reads a solver, as {@code svm}, {@code svm:C=10}, {@code mean} or {@code lda:shrinkage=0.1}.
     *
     * @throws IllegalArgumentException if the text is none; the message names the nearest word
     */
    static LinearSolver parse(String text) {
        SolverText words = SolverText.of(text);
        return switch (words.word()) {
            case Svm.WORD -> new Svm(words.numberOr("C", "auto"));
            case NearestMean.WORD -> {
                words.requireNoArgument();
                yield new NearestMean();
            }
            case Lda.WORD -> new Lda(words.numberOr("shrinkage", "auto"));
            default ->
                throw new IllegalArgumentException("there is no classifier '" + text + "'"
                        + NearestWord.suggestion(words.word(), WORDS) + "; those that are solved for are "
                        + String.join(", ", WORDS));
        };
    }
}
