package org.gramian.inspect;

import java.util.List;

/**
 * Dead and duplicate channels among the feature maps that a pooling reads, after its 1×1 convolution if it has one.
 *
 * <p>A dead channel is constant: its variance over positions is below 10⁻¹² of the largest of the image, in at least 95
 * % of the images. A duplicate is proportional to an earlier channel: {@code |ρ| > 0.999} over the positions of all
 * images. Both make matrices singular or nearly so.
 *
 * @param channels number of channels
 * @param positions number of positions of each
 * @param images number of images
 * @param dead indexes of dead channels
 * @param duplicates channels that are not dead and duplicate an earlier one
 */
public record DegenerateChannels(
        int channels, long positions, int images, List<Integer> dead, List<Duplicate> duplicates) {
    public DegenerateChannels {
        dead = List.copyOf(dead);
        duplicates = List.copyOf(duplicates);
    }

    /**
     * Duplicate channel.
     *
     * @param channel its index
     * @param of index of the first channel that it duplicates
     * @param correlation ρ, from −1 to 1
     */
    public record Duplicate(int channel, int of, double correlation) {}
}
