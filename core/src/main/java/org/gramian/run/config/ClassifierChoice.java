package org.gramian.run.config;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.train.recipe.Recipe;

/**
 * Chooses the classifier: softmax, trained by epochs, or a solver in closed form. Rejects options that do not apply to a
 * solver.
 */
final class ClassifierChoice {
    static final String RULE = "the classifier of the pooling method, else softmax";

    /** Empty stands for softmax. */
    static final Form<Optional<LinearSolver>> FORM =
            Form.of("CLASSIFIER", ClassifierChoice::read, ClassifierChoice::write);

    /** Empty stands for none. */
    static final Form<Optional<LinearSolver>> REFIT_FORM =
            Form.orWord("CLASSIFIER|none", "none", LinearSolver::parse, LinearSolver::text);

    private ClassifierChoice() {}

    private static Optional<LinearSolver> read(String text) {
        String word = text.split(":", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (word.equals(Method.SOFTMAX)) {
            if (text.contains(":")) {
                throw new IllegalArgumentException("softmax takes no argument, found " + QuotedText.text(text));
            }
            return Optional.empty();
        }
        if (!LinearSolver.WORDS.contains(word)) {
            var words = Stream.concat(Stream.of(Method.SOFTMAX), LinearSolver.WORDS.stream())
                    .toList();
            throw new IllegalArgumentException("unknown classifier " + QuotedText.text(text)
                    + NearestWord.suggestion(word, words) + "; the classifiers are " + String.join(", ", words));
        }
        return Optional.of(LinearSolver.parse(text));
    }

    private static String write(Optional<LinearSolver> solver) {
        return solver.map(LinearSolver::text).orElse(Method.SOFTMAX);
    }

    /**
     * Fills an unset classifier; a solver also sets no epochs and no normalization of logits.
     *
     * <p>The classifier of a method counts as set by the user, like the method: the file of a run has the stages of the
     * pooling instead of the name of the method.
     */
    static Settings choose(Settings requested) {
        Settings settings = requested;
        Optional<Method> method = requested.find(Keys.POOLING).flatMap(Methods::find);
        if (!requested.has(Keys.CLASSIFIER) && method.isPresent()) {
            Optional<LinearSolver> own = read(method.get().classifier());
            String reason = "the classifier of " + method.get().name();
            settings = own.isPresent()
                    ? settings.with(Keys.CLASSIFIER.name(), write(own), new Origin(reason, true))
                    : settings.orElse(Keys.CLASSIFIER, own, reason);
        }
        settings = settings.orElse(Keys.CLASSIFIER, Optional.empty(), "trained together with the pooling");
        Optional<LinearSolver> solver = settings.get(Keys.CLASSIFIER);
        if (solver.isEmpty()) {
            return settings;
        }
        String reason = solver.get().text() + " is solved in closed form";
        settings = settings.orElse(Keys.STAGE1_EPOCHS, 0, reason).orElse(Keys.LOGIT_NORM, false, reason);
        return settings.isWanted(Keys.CLASSIFIER) ? settings.orElse(Keys.STAGE2_EPOCHS, 0, reason) : settings;
    }

    /** @throws ConfigException if an option is set that does not apply to a solver */
    static void requireFitting(Recipe recipe, boolean logitNorm) {
        if (recipe.solver().isEmpty()) {
            return;
        }
        LinearSolver solver = recipe.solver().get();
        require(
                recipe.stage1().epochs() == 0,
                Keys.STAGE1_EPOCHS + ": expected 0",
                solver,
                "it is solved in closed form, without epochs");
        require(!logitNorm, Keys.LOGIT_NORM + ": expected false", solver, "its scores are not normalized");
        require(
                recipe.loss().smoothing() == 0 || recipe.stage2().epochs() > 0,
                Keys.LABEL_SMOOTHING + ": expected 0 without fine-tuning",
                solver,
                "it does not minimize cross-entropy");
        require(
                recipe.dropout() == 0 || recipe.stage2().epochs() > 0,
                Keys.DROPOUT + ": expected 0 without fine-tuning",
                solver,
                "it is solved in closed form, without training steps");
    }

    private static void require(boolean fits, String expectation, LinearSolver solver, String reason) {
        if (!fits) {
            throw new ConfigException(expectation + " with " + Keys.CLASSIFIER + "=" + solver.text() + ", because "
                    + reason + "; remove it, or use the classifier softmax");
        }
    }
}
