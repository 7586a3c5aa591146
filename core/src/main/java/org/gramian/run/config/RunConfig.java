package org.gramian.run.config;

import java.util.OptionalDouble;
import org.gramian.linear.LinearSolver;
import org.gramian.train.AdamWOptions;
import org.gramian.train.OptimizerOptions;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.StageRecipe;

/**
 * The complete configuration of a training run, besides images and device.
 *
 * @param options all values
 * @param network the model that they describe
 * @param recipe stages, optimizer and loss that they describe
 */
public record RunConfig(TrainConfig options, NetworkConfig network, Recipe recipe) {
    /** The backbone is frozen in stage 1. */
    private static final double FROZEN = 0;

    /**
     * @throws ConfigException if nothing would be trained, an option does not apply to the classifier, or crops are too small
     */
    public RunConfig {
        recipe.solver().ifPresent(solver -> requireFits(solver, recipe, network));
        if (recipe.solver().isEmpty()
                && recipe.stage1().epochs() + recipe.stage2().epochs() == 0) {
            throw new ConfigException(
                    "stage1.epochs: expected at least 1 epoch in stage1.epochs or stage2.epochs, found 0"
                            + " in both: nothing to train");
        }
        network.requireFits(options.crops().size());
        network.requireFits(options.testPlan().size());
    }

    /**
     * Returns the configuration of settings with a value for every key, such as those of {@link DefaultResolver#complete}.
     *
     * @throws ConfigException naming the key, if a value is missing or does not fit the others
     */
    public static RunConfig of(Settings all) {
        TrainConfig options = all.config();
        return new RunConfig(options, NetworkConfig.of(options), recipe(options));
    }

    private static Recipe recipe(TrainConfig options) {
        StageRecipe stage1 = new StageRecipe(
                options.stage1Epochs(),
                options.stage1Rate(),
                FROZEN,
                options.stage1Schedule(),
                options.stage1Warmup(),
                1,
                options.perLength());
        StageRecipe stage2 = new StageRecipe(
                options.stage2Epochs(),
                options.stage2Rate(),
                options.backboneRate(),
                options.stage2Schedule(),
                options.stage2Warmup(),
                options.layerDecay(),
                false);
        return new Recipe(
                stage1,
                stage2,
                new OptimizerRecipe(optimizer(options), options.clip(), options.ema()),
                new Recipe.Batching(options.batch(), options.accumulate()),
                new Recipe.Loss(options.labelSmoothing(), options.classWeights()),
                options.precision(),
                new Recipe.Augmenting(options.augment(), options.stage2ImageSize(), options.mixup(), options.cutmix()),
                options.classifier(),
                options.stage1Refit(),
                options.dropout(),
                options.seed());
    }

    private static OptimizerOptions optimizer(TrainConfig options) {
        StiefelOptions stiefel = new StiefelOptions(
                options.multiplier(),
                options.metric(),
                options.retraction(),
                options.constantRate().map(OptionalDouble::of).orElse(OptionalDouble.empty()));
        return switch (options.optimizer()) {
            case SGD -> new SgdOptions(options.stage1Rate(), options.momentum(), options.weightDecay(), stiefel);
            case ADAMW ->
                new AdamWOptions(
                        options.stage1Rate(), options.beta1(), options.beta2(), options.weightDecay(), stiefel);
        };
    }

    private static void requireFits(LinearSolver solver, Recipe recipe, NetworkConfig network) {
        boolean tuned = recipe.stage2().epochs() > 0;
        require(
                recipe.stage1().epochs() == 0 || network.auto(), // a learned head competes
                "stage1.epochs: expected 0",
                solver,
                "it is fitted by a solver, without epochs");
        require(!network.logitNorm(), "network.logit-norm: expected false", solver, "its scores are not normalized");
        require(
                recipe.loss().smoothing() == 0 || tuned,
                "optimizer.label-smoothing: expected 0 without fine-tuning",
                solver,
                "it does not minimize cross-entropy");
        require(
                recipe.dropout() == 0 || tuned,
                "network.dropout: expected 0 without fine-tuning",
                solver,
                "it is fitted by a solver, without training steps");
    }

    private static void require(boolean fits, String expectation, LinearSolver solver, String reason) {
        if (!fits) {
            throw new ConfigException(expectation + " with network.classifier=" + solver.text() + ", because " + reason
                    + "; remove it, or use the classifier softmax");
        }
    }
}
