package org.gramian.pooling;

import java.util.Optional;
import org.gramian.backbone.Backbone;

/**
 * Where a stage stands when what its text leaves open is decided.
 *
 * @param backbone the network under the pooling, if it is known: what only it can decide stays open otherwise
 * @param entering number of channels, or length of the vectors, that enter the stage
 * @param mixed whether these are no longer the backbone's own, one for one: a stage before has mixed them
 * @param images how many there are to train on
 */
public record PoolingContext(Optional<Backbone> backbone, long entering, boolean mixed, int images) {
    /** At the backbone itself. */
    public static PoolingContext on(Backbone backbone, int images) {
        return new PoolingContext(Optional.of(backbone), backbone.channels(), false, images);
    }

    /** Behind a stage that is decided. */
    public PoolingContext after(PoolingStage stage) {
        return new PoolingContext(backbone, stage.outputs(entering), true, images);
    }
}
