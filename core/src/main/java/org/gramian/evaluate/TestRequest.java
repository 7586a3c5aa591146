package org.gramian.evaluate;

import java.util.Optional;
import org.gramian.image.dataset.protocol.Protocol;

/**
 * The images to evaluate a model on; unset values follow from the model.
 *
 * @param protocol what divides the dataset
 * @param fold the name of the fold whose test images are wanted
 * @param seed what the division starts from
 * @param all whether every image is wanted, also those that trained the model
 */
public record TestRequest(Optional<Protocol> protocol, Optional<String> fold, Optional<Long> seed, boolean all) {
    /** Whatever suits the model. */
    public static final TestRequest USUAL =
            new TestRequest(Optional.empty(), Optional.empty(), Optional.empty(), false);

    /** Every image, whatever the model has seen of them. */
    public static final TestRequest ALL = new TestRequest(Optional.empty(), Optional.empty(), Optional.empty(), true);

    public TestRequest {
        if (all && (protocol.isPresent() || fold.isPresent() || seed.isPresent())) {
            throw new IllegalArgumentException(
                    "expected all images, or those of a protocol, fold or seed, found both: remove one of them");
        }
    }

    /** Whether a certain division is wanted. */
    boolean divides() {
        return protocol.isPresent() || fold.isPresent() || seed.isPresent();
    }
}
