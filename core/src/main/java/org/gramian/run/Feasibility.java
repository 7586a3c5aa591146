package org.gramian.run;

import java.util.function.Consumer;
import org.gramian.basis.QuotedText;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.Keys;
import org.gramian.run.config.NetworkConfig;

/**
 * Checks before features are computed that each fold has enough images for its pooling and not too many for its classifier.
 *
 * @param plan of a run
 * @param remarks receives warnings for the user
 */
record Feasibility(RunPlan plan, Consumer<String> remarks) {
    /** @throws ConfigException naming key and fold, if the head of a fold cannot be created or solved */
    void require() {
        for (FoldPlan fold : plan.folds()) {
            Pooling pooling = settled(fold);
            plan.config().recipe().solver().ifPresent(solver -> requireRoom(solver, fold, pooling));
        }
        settled(plan.folds().getFirst())
                .warnings(network().backbone().channels())
                .forEach(warning -> remarks.accept(Keys.POOLING + ": " + warning));
        plan.config().recipe().solver().ifPresent(this::remarkUnlearned);
    }

    /** Returns the pooling of a fold. */
    private Pooling settled(FoldPlan fold) {
        int images = fold.parts().training().size();
        try {
            return network().head(plan.dataset().classes().size(), images).pooling();
        } catch (IllegalArgumentException misfit) {
            throw new ConfigException(
                    Keys.POOLING + ": does not fit the " + images + " training images of "
                            + QuotedText.text(fold.name()) + ": " + misfit.getMessage(),
                    misfit);
        }
    }

    private void requireRoom(LinearSolver solver, FoldPlan fold, Pooling pooling) {
        long crops = plan.config().data().crops().training(0).count();
        try {
            solver.requireRoom(
                    fold.parts().training().size() * crops,
                    pooling.descriptorSize(network().backbone().channels()));
        } catch (IllegalArgumentException tooMany) {
            throw new ConfigException(
                    Keys.CLASSIFIER + ": " + QuotedText.text(fold.name()) + ": " + tooMany.getMessage(), tooMany);
        }
    }

    /** Excludes pretrained weights of the backbone, which are not random initial values. */
    private void remarkUnlearned(LinearSolver solver) {
        Pooling pooling = settled(plan.folds().getFirst());
        if (!network().auto() && pooling.hasTrainable(network().backbone().channels())) {
            remarks.accept("the pooling has trainable parameters, which " + Keys.CLASSIFIER + "=" + solver.text()
                    + " leaves at their initial values; use a pooling without them (pca:N instead of conv:N), or the"
                    + " classifier softmax");
        }
    }

    private NetworkConfig network() {
        return plan.config().network();
    }
}
