package org.gramian.run.config;

import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.pooling.Fidelity;
import org.gramian.tensor.DType;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.StageRecipe;

/**
 * The complete configuration of a training run, besides images and device.
 *
 * @param data dataset, splits and crops
 * @param network the model
 * @param recipe stages, optimizer and loss
 * @param quality effort that unset options were chosen for
 * @param fidelity formulas and recipe
 * @param gallery whether thumbnails and descriptors are stored for the report
 * @param tensorboard whether epochs are also written for TensorBoard
 */
public record RunConfig(
        DataConfig data,
        NetworkConfig network,
        Recipe recipe,
        Quality quality,
        Fidelity fidelity,
        boolean gallery,
        boolean tensorboard) {
    /** The backbone is frozen in stage 1. */
    private static final double FROZEN = 0;

    /**
     * @throws ConfigException if nothing would be trained, an option does not apply to the classifier, or crops are too small
     */
    public RunConfig {
        ClassifierChoice.requireFitting(recipe, network.logitNorm());
        if (recipe.solver().isEmpty()
                && recipe.stage1().epochs() + recipe.stage2().epochs() == 0) {
            throw new ConfigException(Keys.STAGE1_EPOCHS + ": expected at least 1 epoch in " + Keys.STAGE1_EPOCHS
                    + " or " + Keys.STAGE2_EPOCHS + ", found 0 in both: nothing to train");
        }
        network.requireFits(data.crops().size());
        network.requireFits(data.testPlan().size());
    }

    /**
     * Returns the configuration of settings with a value for every key, such as those of {@link Choices#complete}.
     *
     * @throws ConfigException naming the key, if a value is missing or does not fit the others
     */
    public static RunConfig of(Settings all) {
        return new RunConfig(
                DataConfig.of(all),
                NetworkConfig.of(all),
                recipe(all),
                all.get(Keys.QUALITY),
                all.get(Keys.FIDELITY),
                all.get(Keys.GALLERY),
                all.get(Keys.TENSORBOARD));
    }

    private static Recipe recipe(Settings all) {
        StageRecipe stage1 = new StageRecipe(
                all.get(Keys.STAGE1_EPOCHS),
                all.get(Keys.STAGE1_RATE),
                FROZEN,
                all.get(Keys.STAGE1_SCHEDULE),
                all.get(Keys.STAGE1_WARMUP),
                1,
                all.get(Keys.PER_LENGTH));
        StageRecipe stage2 = new StageRecipe(
                all.get(Keys.STAGE2_EPOCHS),
                all.get(Keys.STAGE2_RATE),
                all.get(Keys.BACKBONE_RATE),
                all.get(Keys.STAGE2_SCHEDULE),
                all.get(Keys.STAGE2_WARMUP),
                all.get(Keys.LAYER_DECAY),
                false);
        return Recipe.builder(
                        stage1,
                        stage2,
                        new OptimizerRecipe(UpdateRule.options(all), all.get(Keys.CLIP), all.get(Keys.EMA)),
                        new Recipe.Batching(all.get(Keys.BATCH), all.get(Keys.ACCUMULATE)))
                .loss(new Recipe.Loss(all.get(Keys.LABEL_SMOOTHING), all.get(Keys.CLASS_WEIGHTS)))
                .precision(all.get(Keys.PRECISION))
                .augmenting(new Recipe.Augmenting(
                        all.get(Keys.AUGMENT),
                        all.get(Keys.STAGE2_IMAGE_SIZE),
                        all.get(Keys.MIXUP),
                        all.get(Keys.CUTMIX)))
                .solver(all.get(Keys.CLASSIFIER))
                .refit(all.get(Keys.STAGE1_REFIT))
                .dropout(all.get(Keys.DROPOUT))
                .seed(all.get(Keys.SEED))
                .build();
    }

    /**
     * Dataset, splits and crops of a run.
     *
     * @param layout text of the layout, e.g. {@code fmd}
     * @param protocol splits
     * @param crops crops of each image
     * @param testCrops crops of validation, test and prediction; empty: the test crops of {@code crops}
     * @param validation fraction of the training images for the validation set, if the protocol has none; 0: none, the training
     *     loss selects the best epoch
     * @param nearDuplicates whether random splits and cross-validation keep near-duplicates on one side
     * @param featureType precision of cached features
     */
    public record DataConfig(
            String layout,
            Protocol protocol,
            CropPlan crops,
            Optional<CropPlan> testCrops,
            double validation,
            boolean nearDuplicates,
            DType featureType) {
        /** Returns the plan of the crops for validation, test and prediction. */
        public CropPlan testPlan() {
            return testCrops.orElse(crops);
        }

        static DataConfig of(Settings all) {
            return new DataConfig(
                    all.get(Keys.LAYOUT),
                    all.get(Keys.PROTOCOL),
                    all.get(Keys.CROPS),
                    all.get(Keys.TEST_CROPS),
                    all.get(Keys.VALIDATION),
                    all.get(Keys.NEAR_DUPLICATES),
                    all.get(Keys.FEATURE_TYPE));
        }
    }
}
