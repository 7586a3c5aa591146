package org.gramian.image.batch;

import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;

/**
 * An image to load and the crops to take from it; the image is decoded once.
 *
 * @param crops indexes of its crops, in order; at least one
 */
public record LoadRequest(Sample sample, List<Integer> crops) {
    public LoadRequest {
        crops = List.copyOf(crops);
        if (crops.isEmpty()) {
            throw new IllegalArgumentException(sample.name() + ": expected at least one crop");
        }
    }

    /** Returns all crops of all images, in order. */
    public static List<LoadRequest> all(List<Sample> samples, Crops crops) {
        List<Integer> every = IntStream.range(0, crops.count()).boxed().toList();
        return samples.stream().map(sample -> new LoadRequest(sample, every)).toList();
    }
}
