package org.gramian.pooling;

import java.util.Map;
import org.gramian.pooling.Cross.CrossCovariance;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.tensor.Shape;

/**
 * Aggregation of all positions: {@code [n, c, N]} to one vector per image {@code [n, d]}, for any number of positions N.
 *
 * @since 0.1
 */
public sealed interface Aggregation extends PoolingStage
        permits FirstOrder,
                Codebook,
                SecondOrder,
                Pyramid,
                Radam,
                NetworkTail,
                Join,
                Cross,
                CrossCovariance,
                CustomAggregation {
    @Override
    default String kind() {
        return "aggregation";
    }

    /** Returns whether positions matter: the input is then {@code [n, c, h, w]}. */
    default boolean isSpatial() {
        return false;
    }

    /** Returns the smallest supported height and width; more than 1 only for spatial aggregations. */
    default int leastSide() {
        return 1;
    }

    /**
     * Checks the height and width of feature maps.
     *
     * @param maps shape {@code [c, h, w]} of the maps of one image
     * @throws IllegalArgumentException if they are not supported
     */
    default void requireFits(Shape maps) {
        if (Math.min(maps.at(1), maps.at(2)) < leastSide()) {
            throw new IllegalArgumentException(
                    text() + ": expected feature maps of at least " + leastSide() + "×" + leastSide()
                            + " positions, found " + maps.at(1) + "×" + maps.at(2)
                            + "; use an earlier layer, larger images, or fewer levels");
        }
    }

    /**
     * Returns the parameters that are initialized from the backbone's weights, own name to name in the network. They
     * are frozen with the backbone and trained at its learning rate.
     */
    default Map<String, String> pretrained() {
        return Map.of();
    }

    @Override
    default Aggregation resolve(Context place) {
        return this;
    }
}
