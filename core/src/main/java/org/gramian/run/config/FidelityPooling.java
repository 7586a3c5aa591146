package org.gramian.run.config;

import java.util.Objects;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.train.loop.PoolingRace;

/** The pooling of a text under a fidelity, which decides what the text leaves out; and back. */
final class FidelityPooling {
    private FidelityPooling() {}

    static Pooling read(String text, Fidelity fidelity) {
        return Pooling.parse(text, fidelity);
    }

    static String write(Pooling pooling, Fidelity fidelity) {
        return fidelity.textOf(pooling);
    }

    /** Whether settings leave the pooling to a race on the training images. */
    static boolean isAuto(Settings settings) {
        return settings.get(Keys.POOLING).equals(PoolingRace.AUTO);
    }

    /** The pooling of settings that have both keys; where a race chooses it, its baseline. */
    static Pooling of(Settings settings) {
        if (isAuto(settings)) {
            return PoolingRace.baseline(NetworkConfig.backbone(settings));
        }
        try {
            return read(settings.get(Keys.POOLING), settings.get(Keys.FIDELITY));
        } catch (ConfigException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new ConfigException(Keys.POOLING + ": " + e.getMessage(), e);
        }
    }

    /** The same settings with all stages in place of a preset's name, which may mean something else in a later version. */
    static Settings spellOut(Settings settings) {
        if (isAuto(settings)) {
            return settings;
        }
        Origin origin = Objects.requireNonNull(settings.values().get(Keys.POOLING.name()))
                .origin();
        return settings.with(Keys.POOLING.name(), write(of(settings), settings.get(Keys.FIDELITY)), origin);
    }
}
