package org.gramian.pooling;

import java.util.Map;
import org.gramian.tensor.Shape;

/** From maps {@code [n, c, N]} to one vector per image {@code [n, d]}, whatever the number of positions N. */
public sealed interface Aggregation extends PoolingStage
        permits Average,
                SecondOrder,
                Maximum,
                Sum,
                GeneralizedMean,
                Pyramid,
                Weighted,
                FisherVector,
                NetVlad,
                DeepTen,
                Vlad,
                BagOfWords,
                MultiScaleOrderless,
                NetworkTail,
                Join,
                Cross,
                CustomAggregation {
    /** Whether it matters where a position lies: maps then enter as {@code [n, c, h, w]}. */
    default boolean isSpatial() {
        return false;
    }

    /** The fewest rows and columns of the maps that it can look at; more than 1 only if it is spatial. */
    default int leastSide() {
        return 1;
    }

    /**
     * Says no to maps of a height and width that it cannot take.
     *
     * @param maps the shape {@code [c, h, w]} of those of one image
     * @throws IllegalArgumentException if they do not fit
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
     * Those of its parameters that begin at the weights of a network and belong to that network, so that they stay as they are
     * while it is frozen and move at its rate: the network's name of each by its own.
     */
    default Map<String, String> pretrained() {
        return Map.of();
    }

    @Override
    default Aggregation settled(PoolingContext place) {
        return this;
    }
}
