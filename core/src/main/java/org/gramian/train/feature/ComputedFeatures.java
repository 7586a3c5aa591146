package org.gramian.train.feature;

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
import org.gramian.basis.Sha256;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Scope;
import org.gramian.tensor.SingleThreadWorkers;

/** Computes the features of a list of work, one batch at a time, hands them out one by one, and keeps them. */
final class ComputedFeatures implements AutoCloseable {
    /**
     * What came of one crop.
     *
     * @param feature its feature, until the next one is asked for
     * @param problem why there is none
     */
    record Computed(MemorySegment feature, Optional<Unreadable> problem) {}

    private static final long ALIGNMENT = 64;

    /** Besides those being computed: one batch ready, one being filled. */
    private static final int AHEAD = 2;

    /** A batch that is being computed. */
    private record Pending(Batch batch, MemorySegment features, Optional<Future<Boolean>> computation) {}

    private final FeatureExtraction extraction;
    private final FeatureSurvey survey;
    private final List<Work> work;
    private final Map<Path, byte[]> hashes = new HashMap<>();
    private final ImageReader reader;
    private final Arena arena = Arena.ofShared();
    private final BatchLoader loader;
    /** Empty where one thread, this one, computes; a GPU has one stream of work. */
    private final Optional<SingleThreadWorkers> workers;

    private final int atOnce;
    private final Deque<Pending> pending = new ArrayDeque<>();
    private final Deque<MemorySegment> free = new ArrayDeque<>();
    private MemorySegment features = MemorySegment.NULL;
    private List<Place> places = List.of();
    private int next;

    ComputedFeatures(FeatureExtraction extraction, FeatureSurvey survey, List<Work> work) {
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
        this.atOnce =
                Math.clamp(Math.ceilDiv(crops, batch), 1, extraction.extractor().workers());
        for (int i = 0; i <= atOnce; i++) {
            free.add(arena.allocate(batch * extraction.extractor().bytes(survey.crops()), ALIGNMENT));
        }
        Rendering rendering = new Rendering(
                this::read, survey.crops(), extraction.extractor().network().preprocessing());
        this.loader = new BatchLoader(rendering, work, new Prefetch(batch, extraction.threads(), AHEAD + atOnce));
        this.workers =
                extraction.extractor().workers() > 1 ? Optional.of(SingleThreadWorkers.open(atOnce)) : Optional.empty();
    }

    /** Decodes the very bytes that were hashed, so that a feature is never kept under the hash of another content. */
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
            return new Unreadable(Problem.INACCESSIBLE, "the file could not be read a second time: " + e.getMessage());
        }
    }

    /** The result of the next crop of the list. */
    Computed next() {
        if (next == places.size()) {
            computeBatch();
        }
        Place place = places.get(next);
        long bytes = features.byteSize() / extraction.extractor().batch();
        MemorySegment feature = features.asSlice(next * bytes, bytes);
        next++;
        if (place.problem().isEmpty()) {
            keep(work.get(place.work()).sample(), place.crop(), feature);
        }
        return new Computed(feature, place.problem());
    }

    private void computeBatch() {
        if (features.byteSize() > 0) {
            free.addLast(features); // its last feature was handed out
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
            places = batch.places();
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
