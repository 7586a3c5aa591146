package org.gramian.run.config;

import java.util.Objects;
import org.gramian.pooling.Pooling;
import org.gramian.train.loop.PoolingRace;

/** The pooling of settings: the fidelity decides parameters that its text leaves out. */
final class FidelityPooling {
    private FidelityPooling() {}

    /** Returns whether settings leave the pooling to a race on the training images. */
    static boolean isAuto(Settings settings) {
        return settings.get(Keys.POOLING).equals(PoolingRace.AUTO);
    }

    /** Returns the pooling of settings that have both keys; the baseline if a race chooses it. */
    static Pooling of(Settings settings) {
        if (isAuto(settings)) {
            return PoolingRace.baseline(NetworkConfig.backbone(settings));
        }
        try {
            return Pooling.parse(settings.get(Keys.POOLING), settings.get(Keys.FIDELITY));
        } catch (ConfigException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new ConfigException(Keys.POOLING + ": " + e.getMessage(), e);
        }
    }

    /** Replaces the name of a method by its stages, as a later version may define the method differently. */
    static Settings spellOut(Settings settings) {
        if (isAuto(settings)) {
            return settings;
        }
        Origin origin = Objects.requireNonNull(settings.values().get(Keys.POOLING.name()))
                .origin();
        return settings.with(Keys.POOLING.name(), settings.get(Keys.FIDELITY).textOf(of(settings)), origin);
    }
}
