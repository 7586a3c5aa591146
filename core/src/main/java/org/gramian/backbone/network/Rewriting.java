package org.gramian.backbone.network;

import java.util.List;
import java.util.function.Predicate;

/** Replaces layers by others with the same parameters and results. */
@FunctionalInterface
public interface Rewriting {
    /**
     * Rewrites layers in sequence.
     *
     * @param isFeature whether the output of a layer is used on its own
     */
    List<NetworkLayer> apply(List<NetworkLayer> layers, Predicate<NetworkLayer> isFeature);
}
