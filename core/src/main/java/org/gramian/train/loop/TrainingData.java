package org.gramian.train.loop;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.gramian.basis.EvenSample;
import org.gramian.image.ImageReader;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureSurvey;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.TrainEvent.Collecting;

/**
 * The images of one training run, all of them readable, with how they are seen.
 *
 * @param parts who trains, judges and tests
 * @param trainingCrops what is learned of each image
 * @param testCrops what held-back and test images are judged by
 * @param extraction computes features of the frozen backbone
 * @param threads that decode images; play no part in what comes out
 * @param duplicates number of the group of near-duplicates that an image is in, by its name; cross-validation on training
 *     images keeps a group in one fold
 */
public record TrainingData(
        Parts parts,
        Crops trainingCrops,
        Crops testCrops,
        FeatureExtraction extraction,
        int threads,
        Map<String, Integer> duplicates) {
    public TrainingData {
        duplicates = Map.copyOf(duplicates);
    }

    /** Without duplicates. */
    public TrainingData(Parts parts, Crops trainingCrops, Crops testCrops, FeatureExtraction extraction, int threads) {
        this(parts, trainingCrops, testCrops, extraction, threads, Map.of());
    }

    /**
     * Who does what.
     *
     * @param training learned from
     * @param heldBack judges epochs; may be empty
     * @param test measured with at the end, and never before
     */
    public record Parts(List<Sample> training, List<Sample> heldBack, List<Sample> test) {
        public Parts {
            training = List.copyOf(training);
            heldBack = List.copyOf(heldBack);
            test = List.copyOf(test);
            if (training.isEmpty()) {
                throw new IllegalArgumentException("expected training images, found none");
            }
        }

        /** Training images of each class. */
        long[] counts(int classes) {
            long[] counts = new long[classes];
            training.forEach(sample -> counts[sample.label()]++);
            return counts;
        }
    }

    /**
     * Features of some images; what is not in the cache is computed.
     *
     * @param task what they are for, in words
     * @param progress told how far it is, once at a time, by any thread; may throw to stop it
     */
    FeatureTable features(String task, List<Sample> samples, Crops crops, Consumer<Collecting> progress)
            throws IOException {
        FeatureSurvey survey = extraction.survey(samples, crops, looking(samples.size(), progress));
        if (extraction.cache().isPresent()) {
            FeatureCache cache = extraction.cache().get();
            cache.requireSpace(FeatureCache.bytes(
                    survey.missingCount(), extraction.extractor().bytes(crops)));
        }
        return FeatureTable.collect(
                extraction.with(threads), survey, done -> progress.accept(new Collecting(task, done, samples.size())));
    }

    /** Counts by itself, for the numbers of several threads may overtake one another. */
    private static LongConsumer looking(int all, Consumer<Collecting> progress) {
        return new LongConsumer() {
            private long seen;

            @Override
            public synchronized void accept(long done) {
                progress.accept(new Collecting("hashing files", ++seen, all));
            }
        };
    }

    /** How training images, or others, become crops. */
    public Rendering rendering(Crops crops) {
        return new Rendering(
                new ImageReader(extraction.limits())::read,
                crops,
                extraction.extractor().network().preprocessing());
    }

    /** Returns for each sample its place in the list, or that of the first of its duplicates. */
    int[] firstDuplicates(List<Sample> samples) {
        Map<Integer, Integer> first = new HashMap<>();
        int[] places = new int[samples.size()];
        for (int i = 0; i < places.length; i++) {
            Integer group = duplicates.get(samples.get(i).name());
            Integer before = group == null ? null : first.putIfAbsent(group, i);
            places[i] = before == null ? i : before;
        }
        return places;
    }

    /** At most so many training images, evenly spread. */
    List<Sample> some(int most) {
        return EvenSample.of(parts.training, most);
    }
}
