package org.gramian.run.config;

import java.util.Optional;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Shape;
import org.gramian.train.loop.HeadSearch;

/**
 * The model: backbone, pooling and kind of classifier.
 *
 * @param weights name of installed weights, or a file; empty for a backbone that needs none
 * @param pooling from feature maps to the descriptor; the baseline if a comparison selects it
 * @param auto whether a comparison on the training images selects the pooling
 * @param second pooling of the head that competes with the solved one of a search, see {@link HeadSearch#fineTuned} and {@link
 *     HeadSearch#learned}; empty for none
 */
public record NetworkConfig(
        Backbone backbone,
        Optional<String> weights,
        Pooling pooling,
        boolean auto,
        Optional<Pooling> second,
        boolean logitNorm) {
    public NetworkConfig {
        boolean needed = backbone.about().weights().needed();
        if (needed != weights.isPresent()) {
            throw new ConfigException("network.weights: expected "
                    + (needed ? "a name or a file for " : "none, because no weights are needed by ") + backbone.name()
                    + ", found " + weights.map(text -> "'" + text + "'").orElse("none"));
        }
        try {
            pooling.resolve(backbone, Integer.MAX_VALUE).descriptorSize(backbone.channels());
        } catch (IllegalArgumentException e) {
            throw new ConfigException(
                    "network.pooling: does not fit the " + backbone.channels() + " channels of " + backbone + ": "
                            + e.getMessage(),
                    e);
        }
    }

    static NetworkConfig of(Settings settings) {
        Backbone backbone = backbone(settings);
        return new NetworkConfig(
                backbone,
                settings.get(TrainConfig.WEIGHTS),
                pooling(settings),
                isAuto(settings),
                second(settings, backbone),
                settings.get(TrainConfig.LOGIT_NORM));
    }

    public NetworkConfig with(Pooling chosen) {
        return new NetworkConfig(backbone, weights, chosen, false, Optional.empty(), logitNorm);
    }

    private static Optional<Pooling> second(Settings settings, Backbone backbone) {
        if (isAuto(settings) && settings.get(TrainConfig.STAGE2_EPOCHS) > 0) {
            return Optional.of(HeadSearch.fineTuned(backbone));
        }
        return isAuto(settings) && settings.get(TrainConfig.STAGE1_EPOCHS) > 0
                ? Optional.of(HeadSearch.learned(backbone))
                : Optional.empty();
    }

    private static boolean isAuto(Settings settings) {
        return settings.get(TrainConfig.POOLING).equals(HeadSearch.AUTO);
    }

    /** Returns the pooling; the fidelity sets parameters that its text leaves out. For {@code auto} it is the baseline. */
    static Pooling pooling(Settings settings) {
        if (isAuto(settings)) {
            return HeadSearch.baseline(backbone(settings));
        }
        try {
            return Pooling.parse(settings.get(TrainConfig.POOLING), settings.get(TrainConfig.FIDELITY));
        } catch (IllegalArgumentException e) {
            throw new ConfigException("network.pooling: " + e.getMessage(), e);
        }
    }

    /** Returns a backbone by the value of its key: a built-in or installed name, or a file that defines a network. */
    static Backbone backbone(String nameOrFile) {
        return WeightStore.ofProcess().backbone(nameOrFile);
    }

    static Backbone backbone(Settings settings) {
        try {
            return backbone(settings.get(TrainConfig.BACKBONE)).cutAt(settings.get(TrainConfig.LAYER));
        } catch (IllegalArgumentException e) {
            throw new ConfigException("network.layer: " + e.getMessage(), e);
        }
    }

    public Head head(int classes, int images) {
        return new Head(pooling.resolve(backbone, images), classes, logitNorm);
    }

    /** Returns whether the head starts from weights of the layers behind the cut. */
    public boolean usesTail() {
        return (auto && HeadSearch.hasUsefulTail(backbone))
                || !second.orElse(pooling)
                        .resolve(backbone, Integer.MAX_VALUE)
                        .pretrained()
                        .isEmpty();
    }

    void requireFits(int size) {
        Shape maps;
        try {
            maps = backbone.features(size, size);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("data.crops: " + e.getMessage(), e);
        }
        try {
            pooling.resolve(backbone, Integer.MAX_VALUE).requireFits(maps);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(
                    "network.pooling: does not fit crops of " + size + "×" + size + ": " + e.getMessage(), e);
        }
    }
}
