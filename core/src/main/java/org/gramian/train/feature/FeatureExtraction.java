package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.gramian.image.ImageLimits;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Work;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.train.feature.ComputedFeatures.Computed;

/**
 * Features of the crops of many images: from the cache where they are kept, else computed, and kept then.
 *
 * <p>First {@link #survey} looks at what there is, which takes the bytes of the files but decodes none; then {@link #run}
 * delivers all features in order. A file that changes in between is found out: it is read once more, and decoded only if
 * its bytes are those that were hashed. Otherwise it counts as unreadable.
 *
 * @param extractor computes
 * @param limits of images
 * @param cache where features are kept, if they are
 * @param threads that decode images; play no part in what comes out
 */
public record FeatureExtraction(
        FeatureExtractor extractor, ImageLimits limits, Optional<FeatureCache> cache, int threads) {
    /** @throws IllegalArgumentException if the cache is one of another recipe */
    public FeatureExtraction {
        cache.ifPresent(kept -> {
            if (!kept.recipe().equals(extractor.recipe())) {
                throw new IllegalArgumentException(
                        "expected a feature cache of " + extractor.recipe() + ", found one of " + kept.recipe());
            }
        });
    }

    /** With a thread for each core. */
    public FeatureExtraction(FeatureExtractor extractor, ImageLimits limits, Optional<FeatureCache> cache) {
        this(extractor, limits, cache, Runtime.getRuntime().availableProcessors());
    }

    /** The same with so many threads. */
    public FeatureExtraction with(int others) {
        return new FeatureExtraction(extractor, limits, cache, others);
    }

    /**
     * Finds out what is to be computed.
     *
     * @param progress told the number of images looked at so far, by any thread
     */
    public FeatureSurvey survey(List<Sample> samples, Crops crops, LongConsumer progress) throws IOException {
        if (cache.isEmpty()) {
            List<Optional<byte[]>> unknown =
                    samples.stream().map(_ -> Optional.<byte[]>empty()).toList();
            return FeatureSurvey.of(samples, crops, unknown, cache);
        }
        AtomicLong done = new AtomicLong();
        List<Optional<byte[]>> hashes = samples.parallelStream()
                .map(sample -> {
                    Optional<byte[]> hash = Hashes.of(sample.file(), limits.bytes());
                    progress.accept(done.incrementAndGet());
                    return hash;
                })
                .toList();
        cache.get().refresh();
        return FeatureSurvey.of(samples, crops, hashes, cache);
    }

    /**
     * Delivers the features of every image, in the order of the survey.
     *
     * @param progress told the number of images done so far
     * @throws IOException if an image that has some features in the cache can no longer be read
     */
    public void run(FeatureSurvey survey, FeatureSink sink, LongConsumer progress) throws IOException {
        try (ComputedFeatures computed = new ComputedFeatures(this, survey, survey.work())) {
            for (int sample = 0; sample < survey.samples().size(); sample++) {
                Optional<Unreadable> problem = Optional.empty();
                for (int crop = 0; crop < survey.crops().count(); crop++) {
                    boolean missing = survey.missing().get(sample).contains(crop);
                    Computed result = missing ? computed.next() : kept(survey, sample, crop);
                    if (result.problem().isEmpty()) {
                        sink.feature(sample, crop, result.feature());
                    } else if (problem.isEmpty()) {
                        problem = result.problem();
                        requireFirst(crop, survey.samples().get(sample), problem.get());
                        sink.unreadable(sample, problem.get());
                    }
                }
                progress.accept(sample + 1L);
            }
        }
    }

    /** An image that can be read for some of its crops only must have changed since. */
    private static void requireFirst(int crop, Sample sample, Unreadable problem) throws IOException {
        if (crop > 0) {
            throw new IOException(
                    sample.name() + " changed while its features were computed (" + problem.reason() + "): retry");
        }
    }

    /** A feature that was in the cache; if it turns out to be damaged, it is computed after all. */
    private Computed kept(FeatureSurvey survey, int index, int crop) {
        Sample sample = survey.samples().get(index);
        return cache.orElseThrow()
                .find(survey.hashes().get(index).orElseThrow(), survey.crops().key(crop, sample))
                .filter(feature -> feature.byteSize() == extractor.bytes(survey.crops()))
                .map(feature -> new Computed(feature, Optional.empty()))
                .orElseGet(() -> again(survey, new Work(sample, List.of(crop))));
    }

    private Computed again(FeatureSurvey survey, Work work) {
        try (ComputedFeatures alone = new ComputedFeatures(this, survey, List.of(work))) {
            Computed result = alone.next();
            return new Computed(MemorySegment.ofArray(result.feature().toArray(JAVA_BYTE)), result.problem());
        }
    }
}
