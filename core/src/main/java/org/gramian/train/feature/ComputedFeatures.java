package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.Sha256;
import org.gramian.image.PictureReader;
import org.gramian.image.Reading;
import org.gramian.image.Reading.Problem;
import org.gramian.image.Reading.Unreadable;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Place;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.batch.Work;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Scope;

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

    /** One batch in use, one ready, one being filled. */
    private static final int AHEAD = 3;

    private final FeatureExtraction extraction;
    private final FeatureSurvey survey;
    private final List<Work> work;
    private final Map<Path, byte[]> hashes = new HashMap<>();
    private final PictureReader reader;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment features;
    private final BatchLoader loader;
    private List<Place> places = List.of();
    private int next;

    ComputedFeatures(FeatureExtraction extraction, FeatureSurvey survey, List<Work> work) {
        this.extraction = extraction;
        this.survey = survey;
        this.work = work;
        this.reader = new PictureReader(extraction.limits());
        for (int i = 0; i < survey.samples().size(); i++) {
            Path file = survey.samples().get(i).file();
            survey.hashes().get(i).ifPresent(hash -> hashes.put(file, hash));
        }
        int batch = extraction.extractor().batch();
        this.features = arena.allocate(batch * extraction.extractor().bytes(survey.crops()), ALIGNMENT);
        Rendering rendering = new Rendering(
                this::read, survey.crops(), extraction.extractor().network().preprocessing());
        this.loader = new BatchLoader(rendering, work, new Prefetch(batch, extraction.threads(), AHEAD));
    }

    /** Decodes the very bytes that were hashed, so that a feature is never kept under the hash of another content. */
    private Reading read(Path file) {
        byte[] expected = hashes.get(file);
        if (expected == null) {
            return reader.read(file);
        }
        try {
            byte[] content = Files.readAllBytes(file);
            return Arrays.equals(Sha256.of(content), expected)
                    ? reader.read(content)
                    : new Unreadable(Problem.INACCESSIBLE, "the file was changed meanwhile; try again");
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
        try (Scope _ = Scope.open();
                Batch batch = loader.next()) {
            extraction.extractor().compute(batch.tensor(), features);
            places = batch.places();
            next = 0;
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
        loader.close();
        arena.close();
    }
}
