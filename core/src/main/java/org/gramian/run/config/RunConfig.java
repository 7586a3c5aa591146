package org.gramian.run.config;

import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.linear.LinearSolver;
import org.gramian.train.AdamW;
import org.gramian.train.OptimizerRule;
import org.gramian.train.Sgd;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.StageRecipe;

/** The complete configuration of a training run, besides images and device. */
public record RunConfig(Settings settings, NetworkConfig network, Recipe recipe) {
    /** The backbone is frozen in stage 1. */
    private static final double FROZEN = 0;

    public RunConfig {
        recipe.solver().ifPresent(solver -> requireFits(solver, recipe, network));
        if (recipe.solver().isEmpty()
                && recipe.stage1().epochs() + recipe.stage2().epochs() == 0) {
            throw new ConfigException(
                    "stage1.epochs: expected at least 1 epoch in stage1.epochs or stage2.epochs, found 0"
                            + " in both: nothing to train");
        }
        network.requireFits(settings.get(TrainConfig.CROPS).size());
        network.requireFits(testCrops(settings).size());
    }

    /** Returns the configuration of settings with a value for every key, such as those of {@link DefaultResolver#complete}. */
    public static RunConfig of(Settings all) {
        return new RunConfig(all, NetworkConfig.of(all), recipe(all));
    }

    public <T> T get(ConfigKey<T> key) {
        return settings.get(key);
    }

    public Crops trainingCrops() {
        return get(TrainConfig.CROPS).training(recipe.seed());
    }

    public CropPlan testPlan() {
        return testCrops(settings);
    }

    private static CropPlan testCrops(Settings settings) {
        return settings.get(TrainConfig.TEST_CROPS).orElse(settings.get(TrainConfig.CROPS));
    }

    private static Recipe recipe(Settings settings) {
        StageRecipe stage1 = new StageRecipe(
                settings.get(TrainConfig.STAGE1_EPOCHS),
                settings.get(TrainConfig.STAGE1_RATE),
                FROZEN,
                settings.get(TrainConfig.STAGE1_SCHEDULE),
                settings.get(TrainConfig.STAGE1_WARMUP),
                settings.get(TrainConfig.PER_LENGTH));
        StageRecipe stage2 = new StageRecipe(
                settings.get(TrainConfig.STAGE2_EPOCHS),
                settings.get(TrainConfig.STAGE2_RATE),
                settings.get(TrainConfig.BACKBONE_RATE),
                settings.get(TrainConfig.STAGE2_SCHEDULE),
                settings.get(TrainConfig.STAGE2_WARMUP),
                false);
        return new Recipe(
                stage1,
                stage2,
                new OptimizerRecipe(optimizer(settings), settings.get(TrainConfig.CLIP), settings.get(TrainConfig.EMA)),
                new Recipe.Batching(settings.get(TrainConfig.BATCH), settings.get(TrainConfig.ACCUMULATE)),
                new Recipe.Loss(settings.get(TrainConfig.LABEL_SMOOTHING), settings.get(TrainConfig.CLASS_WEIGHTS)),
                settings.get(TrainConfig.PRECISION),
                new Recipe.Augmenting(
                        settings.get(TrainConfig.AUGMENT),
                        settings.get(TrainConfig.STAGE2_IMAGE_SIZE),
                        settings.get(TrainConfig.MIXUP),
                        settings.get(TrainConfig.CUTMIX)),
                settings.get(TrainConfig.CLASSIFIER),
                settings.get(TrainConfig.STAGE1_REFIT),
                settings.get(TrainConfig.DROPOUT),
                settings.get(TrainConfig.SEED));
    }

    private static OptimizerRule optimizer(Settings settings) {
        StiefelOptions stiefel = new StiefelOptions(
                settings.get(TrainConfig.MULTIPLIER),
                settings.get(TrainConfig.METRIC),
                settings.get(TrainConfig.RETRACTION),
                settings.get(TrainConfig.CONSTANT_RATE));
        return switch (settings.get(TrainConfig.OPTIMIZER)) {
            case SGD ->
                new Sgd(
                        settings.get(TrainConfig.STAGE1_RATE),
                        settings.get(TrainConfig.MOMENTUM),
                        settings.get(TrainConfig.WEIGHT_DECAY),
                        stiefel);
            case ADAMW ->
                new AdamW(
                        settings.get(TrainConfig.STAGE1_RATE),
                        settings.get(TrainConfig.BETA1),
                        settings.get(TrainConfig.BETA2),
                        settings.get(TrainConfig.WEIGHT_DECAY),
                        stiefel);
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
