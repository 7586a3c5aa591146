package org.gramian.run.config;

import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.tensor.DType;

/**
 * What of the images a run sees.
 *
 * @param layout text of the layout, as {@code fmd}
 * @param protocol who trains and who tests
 * @param crops what is cut from each image
 * @param testCrops crops of validation, test and prediction; empty: the test crops of {@code crops}
 * @param validation share of the training images that epochs are judged by, where the protocol names no others; 0: by the
 *     training loss
 * @param nearDuplicates whether random splits and cross-validation keep near-duplicates on one side
 * @param featureType in which features are kept
 */
public record DataConfig(
        String layout,
        Protocol protocol,
        CropPlan crops,
        Optional<CropPlan> testCrops,
        double validation,
        boolean nearDuplicates,
        DType featureType) {
    /** The plan whose test crops validation, test and prediction take. */
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

    Settings addTo(Settings settings) {
        return settings.with(Keys.LAYOUT, layout)
                .with(Keys.PROTOCOL, protocol)
                .with(Keys.CROPS, crops)
                .with(Keys.TEST_CROPS, testCrops)
                .with(Keys.VALIDATION, validation)
                .with(Keys.NEAR_DUPLICATES, nearDuplicates)
                .with(Keys.FEATURE_TYPE, featureType);
    }
}
