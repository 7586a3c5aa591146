package org.gramian.pooling;

import java.util.Optional;
import org.gramian.backbone.Backbone;

/**
 * Where a stage stands when what its text leaves open is decided.
 *
 * @param backbone the network under the pooling, if it is known: what only it can decide stays open otherwise
 * @param entering number of channels, or length of the vectors, that enter the stage
 * @param mixed whether these are no longer the backbone's own, one for one: a stage before has mixed them
 * @param pictures how many there are to train on
 */
public record Settling(Optional<Backbone> backbone, long entering, boolean mixed, int pictures) {
    /** At the backbone itself. */
    public static Settling on(Backbone backbone, int pictures) {
        return new Settling(Optional.of(backbone), backbone.channels(), false, pictures);
    }

    /** Behind a stage that is decided. */
    public Settling after(Stage stage) {
        return new Settling(backbone, stage.outputs(entering), true, pictures);
    }
}
