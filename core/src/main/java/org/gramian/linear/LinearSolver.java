package org.gramian.linear;

import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.tensor.Scope;

/**
 * A linear classifier that is solved for: rows {@code [n, d]} with labels to a weight {@code [k, d]} and a bias {@code
 * [k]}, the highest of whose scores {@code z = v·Wᵀ + b} decides.
 *
 * <p>The same rows give the same bits on the processor of one machine; how many threads work plays no part.
 */
public sealed interface LinearSolver permits Svm, Logistic, NearestMean, Lda {
    /** The words that texts begin with. */
    List<String> WORDS = List.of(Svm.WORD, NearestMean.WORD, Lda.WORD, Logistic.WORD);

    /** What solvers are called and mean, for help. */
    List<String> FORMS = List.of(Svm.FORM, NearestMean.FORM, Lda.FORM, Logistic.FORM);

    /** The text that {@link #parse} reads back. */
    String text();

    /**
     * Makes sure that there is room for a problem, before its rows are there.
     *
     * @throws IllegalArgumentException if there is not; the message says how much it would take and what to try
     */
    void requireRoom(long rows, long size);

    /**
     * Estimates the memory that solving takes at its largest, the rows included.
     *
     * @param rows n
     * @param size d
     * @return bytes
     */
    long bytes(long rows, long size);

    /**
     * Solves for weight and bias alone: scores are as the problem defines them, without calibration.
     *
     * @param watch progress callback; an exception that it throws stops the solver at once
     * @throws IllegalArgumentException if there is no room for it, see {@link #requireRoom}, or no such classifier
     */
    LinearModel fit(LabelledRows rows, SolveWatch watch);

    /**
     * Solves, and calibrates by group-wise cross-validation: weight and bias are divided by the softmax temperature that
     * fits the out-of-fold scores best, which changes no prediction. {@link LinearModel#crossValidation} has the scores.
     * Where a class has one group only there are no folds, and the temperature stays 1; so it does where the rows of a fold
     * are too few for the problem to have a solution.
     *
     * @param watch progress callback; an exception that it throws stops the solver at once
     * @throws IllegalArgumentException if there is no room for it, see {@link #requireRoom}, or no such classifier
     */
    default LinearModel solve(LabelledRows rows, SolveWatch watch) {
        GroupFolds folds = GroupFolds.of(rows, GroupFolds.USUAL);
        try (Scope scope = Scope.open()) {
            LinearModel model = fit(rows, watch);
            if (model.crossValidation().isEmpty() && folds.folds() > 1) {
                model = crossValidated(model, rows, folds, watch);
            }
            return model.calibrated().keptBy(scope);
        }
    }

    private LinearModel crossValidated(LinearModel model, LabelledRows rows, GroupFolds folds, SolveWatch watch) {
        try {
            return model.with(CrossValidation.of(rows, folds, part -> fit(part, SolveWatch.NONE), watch));
        } catch (UnsolvableException _) {
            return model; // all rows determine the classifier, the fewer of a fold do not
        }
    }

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
            case Logistic.WORD -> new Logistic(words.numberOr("C", "auto"));
            case Lda.WORD -> new Lda(words.numberOr("shrinkage", "auto"));
            default ->
                throw new IllegalArgumentException("unknown classifier '" + text + "'"
                        + NearestWord.suggestion(words.word(), WORDS) + "; closed-form classifiers are "
                        + String.join(", ", WORDS));
        };
    }
}
