package org.gramian.train.feature;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.batch.Work;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;

/**
 * What is known before the work: which features are kept already, and which are to be computed.
 *
 * @param samples the images
 * @param crops of each image
 * @param hashes SHA-256 of each image's file; empty if it was not requested or the file could not be read
 * @param missing for each image, the crops whose features are to be computed
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

    /** Number of all features, kept or not. */
    public long count() {
        return (long) samples.size() * crops.count();
    }

    /** Number of features to be computed. */
    public long missingCount() {
        return missing.stream().mapToLong(List::size).sum();
    }

    /** What is to be computed, in order. */
    List<Work> work() {
        return IntStream.range(0, samples.size())
                .filter(i -> !missing.get(i).isEmpty())
                .mapToObj(i -> new Work(samples.get(i), missing.get(i)))
                .toList();
    }
}
