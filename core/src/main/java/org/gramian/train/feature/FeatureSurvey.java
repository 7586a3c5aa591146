package org.gramian.train.feature;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;

/**
 * Cached and missing features of images, found before any are computed.
 *
 * @param samples the images
 * @param crops of each image
 * @param hashes SHA-256 of each file; empty without a cache or if the file cannot be read
 * @param missing crops of each image whose features are not cached
 */
public record FeatureSurvey(
        List<Sample> samples, Crops crops, List<Optional<byte[]>> hashes, List<List<Integer>> missing) {
    public FeatureSurvey {
        samples = List.copyOf(samples);
        hashes = List.copyOf(hashes);
        missing = List.copyOf(missing);
    }

    static FeatureSurvey of(
            List<Sample> samples, Crops crops, List<Optional<byte[]>> hashes, Optional<FeatureCache> cache) {
        List<List<Integer>> missing = new ArrayList<>();
        for (int i = 0; i < samples.size(); i++) {
            Sample sample = samples.get(i);
            Optional<byte[]> hash = hashes.get(i);
            missing.add(IntStream.range(0, crops.count())
                    .filter(crop -> cache.isEmpty()
                            || hash.isEmpty()
                            || !cache.get().contains(hash.get(), crops.key(crop, sample)))
                    .boxed()
                    .toList());
        }
        return new FeatureSurvey(samples, crops, hashes, missing);
    }

    /** Returns the number of features. */
    public long count() {
        return (long) samples.size() * crops.count();
    }

    /** Returns the number of features to compute. */
    public long missingCount() {
        return missing.stream().mapToLong(List::size).sum();
    }

    /** Returns the crops to compute, in order. */
    List<LoadRequest> work() {
        return IntStream.range(0, samples.size())
                .filter(i -> !missing.get(i).isEmpty())
                .mapToObj(i -> new LoadRequest(samples.get(i), missing.get(i)))
                .toList();
    }
}
