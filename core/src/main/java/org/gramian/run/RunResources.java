package org.gramian.run;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FeatureCache;

/**
 * What a run computes with: none of it decides what comes out, as far as the device computes alike.
 *
 * @param device where
 * @param weights those at hand
 * @param cache folder in which features are kept for other runs; without it they are kept for this run alone
 * @param threads that decode images
 */
public record RunResources(Device device, WeightStore weights, Optional<Path> cache, int threads) {
    /** All cores of this machine, and the usual folders. */
    public static RunResources usual(Device device) {
        return new RunResources(
                device,
                WeightStore.ofProcess(),
                Optional.of(FeatureCache.defaultRoot()),
                Runtime.getRuntime().availableProcessors());
    }
}
