package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.gramian.basis.Sha256;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.Batch.BatchSlot;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Scope;
import org.gramian.tensor.library.SingleThreadWorkers;

/**
 * Features of the crops of many images, from the cache or computed and then cached.
 *
 * <p>{@link #survey} hashes the files without decoding them and finds what is missing; {@link #run} returns all features in order. A
 * file that changes in between counts as unreadable: it is decoded only if its bytes are those that were hashed.
 *
 * @param extractor computes features
 * @param limits of images
 * @param cache of features, if any
 * @param threads decode images; their number does not change the features
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

    /** An extraction with a thread for each core. */
    public FeatureExtraction(FeatureExtractor extractor, ImageLimits limits, Optional<FeatureCache> cache) {
        this(extractor, limits, cache, Runtime.getRuntime().availableProcessors());
    }

    /** Returns this extraction with another number of threads. */
    public FeatureExtraction with(int others) {
        return new FeatureExtraction(extractor, limits, cache, others);
    }

    /**
     * Finds the features that are missing in the cache.
     *
     * @param progress receives the number of hashed images, from any thread
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
                    Optional<byte[]> hash = hash(sample.file(), limits.bytes());
                    progress.accept(done.incrementAndGet());
                    return hash;
                })
                .toList();
        cache.get().refresh();
        return FeatureSurvey.of(samples, crops, hashes, cache);
    }

    /**
     * Sends the features of every image to a sink, in the order of the survey.
     *
     * @param progress receives the number of completed images
     * @throws IOException if an image that has some features in the cache can no longer be read
     */
    public void run(FeatureSurvey survey, Sink sink, LongConsumer progress) throws IOException {
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

    /** Requires that an image is readable for all of its crops: else it has changed. */
    private static void requireFirst(int crop, Sample sample, Unreadable problem) throws IOException {
        if (crop > 0) {
            throw new IOException(
                    sample.name() + " changed while its features were computed (" + problem.reason() + "): retry");
        }
    }

    /** Returns a feature of the cache; computes it if its record is damaged. */
    private Computed kept(FeatureSurvey survey, int index, int crop) {
        Sample sample = survey.samples().get(index);
        return cache.orElseThrow()
                .find(survey.hashes().get(index).orElseThrow(), survey.crops().key(crop, sample))
                .filter(feature -> feature.byteSize() == extractor.bytes(survey.crops()))
                .map(feature -> new Computed(feature, Optional.empty()))
                .orElseGet(() -> again(survey, new LoadRequest(sample, List.of(crop))));
    }

    private Computed again(FeatureSurvey survey, LoadRequest work) {
        try (ComputedFeatures alone = new ComputedFeatures(this, survey, List.of(work))) {
            Computed result = alone.next();
            return new Computed(MemorySegment.ofArray(result.feature().toArray(JAVA_BYTE)), result.problem());
        }
    }

    /** Returns the SHA-256 of a regular file of at most so many bytes; empty if it cannot be read. */
    private static Optional<byte[]> hash(Path file, long most) {
        try {
            // Checked before opening: opening a pipe would wait for its other end.
            return Files.isRegularFile(file) && Files.size(file) <= most
                    ? Optional.of(Sha256.of(file))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // decoding reports the reason
        }
    }

    /**
     * Result of one crop.
     *
     * @param feature valid until the next one
     * @param problem why there is no feature
     */
    private record Computed(MemorySegment feature, Optional<Unreadable> problem) {}

    /** Computes the features of a list of work in batches, returns them one by one, and stores them in the cache. */
    private static final class ComputedFeatures implements AutoCloseable {
        private static final long ALIGNMENT = 64;

        /** Besides those being computed: one batch ready, one being filled. */
        private static final int AHEAD = 2;

        /** A batch that is being computed. */
        private record Pending(Batch batch, MemorySegment features, Optional<Future<Boolean>> computation) {}

        private final FeatureExtraction extraction;
        private final FeatureSurvey survey;
        private final List<LoadRequest> work;
        private final Map<Path, byte[]> hashes = new HashMap<>();
        private final ImageReader reader;
        private final Arena arena = Arena.ofShared();
        private final BatchLoader loader;
        /** Empty if this thread computes alone, as on a GPU with its one stream. */
        private final Optional<SingleThreadWorkers> workers;

        private final int atOnce;
        private final Deque<Pending> pending = new ArrayDeque<>();
        private final Deque<MemorySegment> free = new ArrayDeque<>();
        private MemorySegment features = MemorySegment.NULL;
        private List<BatchSlot> slots = List.of();
        private int next;

        ComputedFeatures(FeatureExtraction extraction, FeatureSurvey survey, List<LoadRequest> work) {
            this.extraction = extraction;
            this.survey = survey;
            this.work = work;
            this.reader = new ImageReader(extraction.limits());
            for (int i = 0; i < survey.samples().size(); i++) {
                Path file = survey.samples().get(i).file();
                survey.hashes().get(i).ifPresent(hash -> hashes.put(file, hash));
            }
            int batch = extraction.extractor().batch();
            long crops = work.stream().mapToLong(one -> one.crops().size()).sum();
            this.atOnce = Math.clamp(
                    Math.ceilDiv(crops, batch), 1, extraction.extractor().workers());
            for (int i = 0; i <= atOnce; i++) {
                free.add(arena.allocate(batch * extraction.extractor().bytes(survey.crops()), ALIGNMENT));
            }
            Rendering rendering = new Rendering(
                    this::read, survey.crops(), extraction.extractor().network().preprocessing());
            this.loader = new BatchLoader(rendering, work, new Prefetch(batch, extraction.threads(), AHEAD + atOnce));
            this.workers = extraction.extractor().workers() > 1
                    ? Optional.of(SingleThreadWorkers.open(atOnce))
                    : Optional.empty();
        }

        /** Decodes the bytes that were hashed, so that a feature is never stored under the hash of another content. */
        private ReadResult read(Path file) {
            byte[] expected = hashes.get(file);
            if (expected == null) {
                return reader.read(file);
            }
            try {
                byte[] content = Files.readAllBytes(file);
                return Arrays.equals(Sha256.of(content), expected)
                        ? reader.read(content)
                        : new Unreadable(Problem.INACCESSIBLE, "the file changed meanwhile; retry");
            } catch (IOException e) {
                return new Unreadable(
                        Problem.INACCESSIBLE, "the file could not be read a second time: " + e.getMessage());
            }
        }

        /** Returns the result of the next crop. */
        Computed next() {
            if (next == slots.size()) {
                computeBatch();
            }
            BatchSlot slot = slots.get(next);
            long bytes = features.byteSize() / extraction.extractor().batch();
            MemorySegment feature = features.asSlice(next * bytes, bytes);
            next++;
            if (slot.problem().isEmpty()) {
                keep(work.get(slot.request()).sample(), slot.crop(), feature);
            }
            return new Computed(feature, slot.problem());
        }

        private void computeBatch() {
            if (features.byteSize() > 0) {
                free.addLast(features); // its last feature was returned
                features = MemorySegment.NULL;
            }
            while (loader.hasNext() && pending.size() < atOnce) {
                Batch batch = loader.next();
                MemorySegment target = free.removeFirst();
                Callable<Boolean> task = () -> compute(batch, target);
                pending.addLast(new Pending(batch, target, workers.map(pool -> pool.submit(task))));
            }
            Pending first = pending.removeFirst();
            try (Batch batch = first.batch) {
                first.computation.ifPresentOrElse(SingleThreadWorkers::get, () -> compute(batch, first.features));
                slots = batch.slots();
                features = first.features;
                next = 0;
            }
        }

        private boolean compute(Batch batch, MemorySegment target) {
            try (Scope _ = Scope.open()) {
                extraction.extractor().compute(batch.tensor(), target);
                return true;
            }
        }

        private void keep(Sample sample, int crop, MemorySegment feature) {
            byte[] hash = hashes.get(sample.file());
            if (hash != null) {
                String key = survey.crops().key(crop, sample);
                extraction.cache().ifPresent(cache -> cache.put(hash, key, feature));
            }
        }

        @Override
        public void close() {
            workers.ifPresent(SingleThreadWorkers::close);
            loader.close();
            arena.close();
        }
    }

    /** Receives features in the order of images and crops. */
    public interface Sink {
        /**
         * Receives a feature.
         *
         * @param sample index of the image
         * @param crop index of the crop
         * @param feature {@code [c, h, w]}, read-only; valid only during this call unless it is {@linkplain MemorySegment#isMapped() mapped} from the cache
         */
        void feature(int sample, int crop, MemorySegment feature) throws IOException;

        /** Called once for an unreadable image. */
        void unreadable(int sample, Unreadable problem) throws IOException;
    }
}
