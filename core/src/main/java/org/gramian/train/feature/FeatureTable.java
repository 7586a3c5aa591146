package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;
import org.jspecify.annotations.Nullable;

/**
 * Features of all crops of some images with random access: row {@code i} is crop {@code i mod n} of image {@code i / n} with n crops per
 * image.
 *
 * <p>Cached features stay mapped; only others are copied to memory. On a GPU all features are uploaded once if they take at most half of
 * its free memory.
 */
public final class FeatureTable implements AutoCloseable {
    /** Rows per upload to a GPU. */
    private static final int CHUNK = 64;

    private final FeatureSurvey survey;
    private final Shape shape;
    private final DType type;
    private final Device device;
    private final Arena own = Arena.ofShared();
    private final @Nullable MemorySegment[] features;
    private @Nullable Tensor resident;

    private FeatureTable(FeatureExtraction extraction, FeatureSurvey survey) {
        FeatureExtractor extractor = extraction.extractor();
        this.survey = survey;
        this.shape = extractor.shape(survey.crops());
        this.type = extractor.type();
        this.device = extractor.network().device();
        this.features = new MemorySegment[Math.toIntExact(survey.count())];
    }

    /**
     * Collects the features of a survey.
     *
     * @param progress receives the number of completed images
     * @throws IOException if an image cannot be read
     */
    public static FeatureTable collect(FeatureExtraction extraction, FeatureSurvey survey, LongConsumer progress)
            throws IOException {
        FeatureTable table = new FeatureTable(extraction, survey);
        try {
            extraction.run(survey, table.new Collector(extraction), progress);
            table.find(extraction);
            if (table.device.kind() == Device.Kind.CUDA) {
                table.bringToDevice();
            }
            return table;
        } catch (IOException | RuntimeException failed) {
            table.close();
            throw failed;
        }
    }

    /**
     * Returns a table of features that were computed elsewhere.
     *
     * @param extraction defines their shape and type
     * @param rows features {@code [c, h, w]} of the crops of the first image, of the second, and so on
     */
    public static FeatureTable of(
            FeatureExtraction extraction, List<Sample> samples, Crops crops, List<MemorySegment> rows) {
        FeatureTable table = new FeatureTable(extraction, new FeatureSurvey(samples, crops, List.of(), List.of()));
        rows.toArray(table.features);
        return table;
    }

    /** Copies only features that are not cached. */
    private final class Collector implements FeatureExtraction.Sink {
        private final FeatureExtraction extraction;

        Collector(FeatureExtraction extraction) {
            this.extraction = extraction;
        }

        @Override
        public void feature(int sample, int crop, MemorySegment feature) {
            int place = place(sample, crop);
            if (feature.isMapped()) {
                // verified, and in the one mapping of its file
                features[place] = feature;
                return;
            }
            boolean kept = survey.hashes()
                    .get(sample)
                    .filter(hash -> extraction
                            .cache()
                            .filter(cache -> cache.contains(hash, key(sample, crop)))
                            .isPresent())
                    .isPresent();
            if (!kept) {
                features[place] = own.allocate(feature.byteSize(), 64).copyFrom(feature);
            }
        }

        @Override
        public void unreadable(int sample, Unreadable problem) throws IOException {
            String reason = "cannot be read (" + problem.reason() + "): remove it, or retry if it was being changed";
            throw new UnreadableImageException(
                    survey.samples().get(sample).file(), new Unreadable(problem.problem(), reason));
        }
    }

    private String key(int sample, int crop) {
        return survey.crops().key(crop, survey.samples().get(sample));
    }

    private int place(int sample, int crop) {
        return sample * survey.crops().count() + crop;
    }

    /** Finds computed features in the cache after the last one: each file is mapped only once. */
    private void find(FeatureExtraction extraction) throws IOException {
        for (int place = 0; place < features.length; place++) {
            int sample = place / survey.crops().count();
            if (features[place] == null) {
                String key = key(sample, place % survey.crops().count());
                byte[] hash = survey.hashes().get(sample).orElseThrow();
                features[place] = extraction
                        .cache()
                        .orElseThrow()
                        .find(hash, key)
                        .orElseThrow(() -> new IOException("the feature cache lost a feature of "
                                + survey.samples().get(sample).name() + " while in use: retry"));
            }
        }
    }

    /** Uploads all rows as one tensor; without enough memory, rows are uploaded in batches on demand. */
    private void bringToDevice() {
        long bytes = Math.multiplyExact(features.length, shape.elements() * type.bytes());
        if (!leavesRoom(bytes, Libtorch.load().cudaMemoryFree())) {
            return;
        }
        Tensor all;
        try {
            all = Tensors.empty(rows(features.length), type, device);
        } catch (LibtorchException failed) {
            if (leavesRoom(bytes, Libtorch.load().cudaMemoryFree())) {
                throw failed; // not for lack of memory
            }
            return; // another process has taken the memory
        }
        Scope.detach(all);
        resident = all;
        for (int start = 0; start < features.length; start += CHUNK) {
            int end = Math.min(features.length, start + CHUNK);
            int[] places = IntStream.range(start, end).toArray();
            try (Scope _ = Scope.open()) {
                all.slice(0, start, end).copyFrom(gathered(places));
            }
        }
    }

    /** Whether a table takes at most half of the free memory, if that is known: training needs memory too. */
    static boolean leavesRoom(long bytes, Optional<Long> free) {
        return free.isPresent() && bytes <= free.get() / 2;
    }

    /** Returns the images. */
    public List<Sample> samples() {
        return survey.samples();
    }

    /** Returns the number of crops per image. */
    public int crops() {
        return survey.crops().count();
    }

    /** Returns the number of rows. */
    public int count() {
        return features.length;
    }

    /** Returns rows {@code [n, c, h, w]}, float32 on the extractor's device, in the current scope. */
    public Tensor rows(int[] places) {
        if (isResident()) {
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            return rows(Tensors.ofLongs(wide, Shape.of(wide.length)).to(device));
        }
        return gathered(places).to(device).to(DType.F32);
    }

    /** Whether all rows are in GPU memory. */
    public boolean isResident() {
        return resident != null;
    }

    /** Returns the same rows for I64 indices on the GPU; requires {@link #isResident}. */
    public Tensor rows(Tensor places) {
        return Objects.requireNonNull(resident, "rows on a GPU")
                .select(0, places)
                .to(DType.F32);
    }

    private Shape rows(int count) {
        return Shape.of(count, shape.at(0), shape.at(1), shape.at(2));
    }

    private Tensor gathered(int[] places) {
        Tensor rows = Tensors.empty(rows(places.length), type, Device.CPU);
        MemorySegment target = rows.data();
        long bytes = shape.elements() * type.bytes();
        for (int i = 0; i < places.length; i++) {
            MemorySegment.copy(Objects.requireNonNull(features[places[i]]), 0, target, i * bytes, bytes);
        }
        return rows;
    }

    @Override
    public void close() {
        if (resident != null) {
            resident.close();
            resident = null;
        }
        own.close();
    }
}
