package org.gramian.inspect;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What is wrong with the feature maps that a pooling compares: those after its 1×1 convolution, where it has one.
 *
 * <p>A dead channel is the same everywhere: its variance over positions is below 10⁻¹² of the image's liveliest channel, in at
 * least 95 % of the images. A duplicate follows an earlier channel up to a factor: their correlation over the positions of all
 * images, {@code |ρ| > 0.999}. Both make matrices singular, or nearly so.
 *
 * @param channels number of maps
 * @param positions places in each
 * @param images how many were looked at
 * @param dead indexes of dead channels
 * @param duplicates those that are not dead and follow an earlier one
 */
public record DegenerateChannels(
        int channels,
        long positions,
        @JsonProperty("pictures") int images,
        List<Integer> dead,
        List<Duplicate> duplicates) {
    public DegenerateChannels {
        dead = List.copyOf(dead);
        duplicates = List.copyOf(duplicates);
    }

    /**
     * A channel that says what another says.
     *
     * @param channel its index
     * @param of the first channel that it follows
     * @param correlation from −1 to 1
     */
    public record Duplicate(int channel, int of, double correlation) {}
}
