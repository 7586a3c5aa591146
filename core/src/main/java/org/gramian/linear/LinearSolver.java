package org.gramian.linear;

import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.tensor.Scope;

/**
 * Linear classifier that is solved for directly: rows {@code [n, d]} with labels to a weight {@code W [k, d]} and a
 * bias {@code b [k]}; the class with the highest score {@code z = v·Wᵀ + b} is predicted.
 *
 * <p>Results on the CPU of one machine are bit-identical for any number of threads.
 */
public sealed interface LinearSolver permits Svm, Logistic, NearestMean, Lda {
    /** First words of the text forms. */
    List<String> WORDS = List.of(Svm.WORD, NearestMean.WORD, Lda.WORD, Logistic.WORD);

    /** Text forms with their meaning, for help. */
    List<String> FORMS = List.of(Svm.FORM, NearestMean.FORM, Lda.FORM, Logistic.FORM);

    /** Returns the text form, which {@link #parse} parses. */
    String text();

    /**
     * Checks that a problem fits into memory, before its rows are computed.
     *
     * @param rows n
     * @param size d
     * @throws IllegalArgumentException if it does not; the message names the memory needed and what to try
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
     * Solves for weight and bias without calibration of the scores.
     *
     * @param rows labelled rows
     * @param watch progress callback; an exception that it throws stops the solver
     * @throws IllegalArgumentException if memory is insufficient, see {@link #requireRoom}, or there is no solution
     */
    LinearModel fit(LabelledRows rows, SolverListener watch);

    /**
     * Solves for weight and bias and calibrates the scores by group-wise cross-validation.
     *
     * <p>Weight and bias are divided by the softmax temperature that fits the out-of-fold scores best, which changes no
     * prediction; {@link LinearModel#crossValidation} has the scores. The temperature stays 1 if a class has only one
     * group, or if the rows of a fold are too few for a solution.
     *
     * @param rows labelled rows
     * @param watch progress callback; an exception that it throws stops the solver
     * @throws IllegalArgumentException if memory is insufficient, see {@link #requireRoom}, or there is no solution
     */
    default LinearModel solve(LabelledRows rows, SolverListener watch) {
        GroupFolds folds = GroupFolds.of(rows, GroupFolds.DEFAULT_COUNT);
        try (Scope scope = Scope.open()) {
            LinearModel model = fit(rows, watch);
            if (model.crossValidation().isEmpty() && folds.folds() > 1) {
                model = crossValidated(model, rows, folds, watch);
            }
            return model.calibrated().keptBy(scope);
        }
    }

    private LinearModel crossValidated(LinearModel model, LabelledRows rows, GroupFolds folds, SolverListener watch) {
        try {
            return model.with(CrossValidation.of(rows, folds, part -> fit(part, SolverListener.NONE), watch));
        } catch (UnsolvableException _) {
            return model; // all rows determine the classifier, the fewer of a fold do not
        }
    }

    /**
     * Parses a solver, such as {@code svm}, {@code svm:C=10}, {@code mean} or {@code lda:shrinkage=0.1}.
     *
     * @throws IllegalArgumentException if the text is invalid; the message suggests the nearest word
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
