package org.gramian.run.config;

import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.tensor.DType;

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
