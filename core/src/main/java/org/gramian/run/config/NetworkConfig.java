package org.gramian.run.config;

import java.util.Optional;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Shape;
import org.gramian.train.loop.PoolingRace;

/**
 * What is trained: backbone, pooling and the kind of classifier.
 *
 * @param backbone the network, cut at a layer
 * @param weights a name in the store of weights, or a file; nothing for a network that needs none
 * @param pooling features to descriptor; where a race chooses it, its baseline
 * @param auto whether a race on the training images chooses the pooling
 * @param fineTuned the pooling that is fine-tuned where it is another one than the frozen features have; see {@link
 *     PoolingRace#fineTuned}
 * @param logitNorm whether scores are batch-normalized
 */
public record NetworkConfig(
        Backbone backbone,
        Optional<String> weights,
        Pooling pooling,
        boolean auto,
        Optional<Pooling> fineTuned,
        boolean logitNorm) {
    /** @throws ConfigException if weights are missing or not wanted, or the pooling does not fit the layer */
    public NetworkConfig {
        boolean needed = backbone.about().weights().needed();
        if (needed != weights.isPresent()) {
            throw new ConfigException(Keys.WEIGHTS + ": expected "
                    + (needed ? "a name or a file for " : "none, because no weights are needed by ") + backbone.name()
                    + ", found " + weights.map(text -> "'" + text + "'").orElse("none"));
        }
        try {
            pooling.settled(backbone, Integer.MAX_VALUE).descriptorSize(backbone.channels());
        } catch (IllegalArgumentException e) {
            throw new ConfigException(
                    Keys.POOLING + ": does not fit the " + backbone.channels() + " channels of " + backbone + ": "
                            + e.getMessage(),
                    e);
        }
    }

    static NetworkConfig of(Settings all) {
        Backbone backbone = backbone(all);
        boolean tuned = FidelityPooling.isAuto(all) && all.get(Keys.STAGE2_EPOCHS) > 0;
        return new NetworkConfig(
                backbone,
                all.get(Keys.WEIGHTS),
                FidelityPooling.of(all),
                FidelityPooling.isAuto(all),
                tuned ? Optional.of(PoolingRace.fineTuned(backbone)) : Optional.empty(),
                all.get(Keys.LOGIT_NORM));
    }

    /** The same with the pooling that a race chose. */
    public NetworkConfig with(Pooling chosen) {
        return new NetworkConfig(backbone, weights, chosen, false, Optional.empty(), logitNorm);
    }

    static Backbone backbone(Settings all) {
        try {
            return Backbone.of(all.get(Keys.BACKBONE), all.get(Keys.LAYER));
        } catch (ConfigException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new ConfigException(Keys.LAYER + ": " + e.getMessage(), e);
        }
    }

    /**
     * What stands on the backbone.
     *
     * @param images how many there are to train on
     */
    public Head head(int classes, int images) {
        return new Head(pooling.settled(backbone, images), classes, logitNorm);
    }

    /** Whether the head begins with weights of what follows the layer in the network. */
    public boolean usesTail() {
        return !fineTuned
                .orElse(pooling)
                .settled(backbone, Integer.MAX_VALUE)
                .pretrained()
                .isEmpty();
    }

    /** @throws ConfigException if the layer cannot be reached by crops of that size, or the pooling cannot take their maps */
    void requireFits(int size) {
        Shape maps = maps(size);
        try {
            pooling.settled(backbone, Integer.MAX_VALUE).requireFits(maps);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(
                    Keys.POOLING + ": does not fit crops of " + size + "×" + size + ": " + e.getMessage(), e);
        }
    }

    private Shape maps(int size) {
        try {
            return backbone.features(size, size);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(Keys.CROPS + ": " + e.getMessage(), e);
        }
    }

    Settings addTo(Settings settings, Fidelity fidelity) {
        return settings.with(Keys.BACKBONE, backbone.name())
                .with(Keys.LAYER, backbone.layer())
                .with(Keys.WEIGHTS, weights)
                .with(Keys.POOLING, auto ? PoolingRace.AUTO : fidelity.textOf(pooling))
                .with(Keys.LOGIT_NORM, logitNorm);
    }
}
