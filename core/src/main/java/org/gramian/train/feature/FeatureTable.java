package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
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
 * <p>Features stay mapped from their file. On a GPU all features are uploaded once if they take at most half of its free memory.
 */
public final class FeatureTable implements AutoCloseable {
    private static final int CHUNK = 64;

    private final List<Sample> samples;
    private final int crops;
    private final List<MemorySegment> features;
    private final Map<Integer, Unreadable> problems;
    private final Shape shape;
    private final DType type;
    private final Device device;
    private @Nullable Tensor resident;

    FeatureTable(
            FeatureExtractor extractor,
            List<Sample> samples,
            Crops crops,
            List<MemorySegment> features,
            Map<Integer, Unreadable> problems) {
        this.samples = List.copyOf(samples);
        this.crops = crops.count();
        this.features = List.copyOf(features);
        this.problems = Collections.unmodifiableMap(new TreeMap<>(problems));
        this.shape = extractor.shape(crops);
        this.type = extractor.type();
        this.device = extractor.network().device();
    }

    /** Returns a table of features that were computed elsewhere. */
    public static FeatureTable of(
            FeatureExtraction extraction, List<Sample> samples, Crops crops, List<MemorySegment> rows) {
        return new FeatureTable(extraction.extractor(), samples, crops, rows, Map.of());
    }

    /** Returns why images have no features, by their index. */
    public Map<Integer, Unreadable> problems() {
        return problems;
    }

    /** Returns the feature {@code [c, h, w]} of a crop in the type of the file, read-only. */
    public MemorySegment feature(int sample, int crop) {
        return features.get(sample * crops + crop);
    }

    /** Uploads all rows as one tensor if they are to be on a GPU; without enough memory, rows are uploaded in batches on demand. */
    public void upload() {
        if (device.kind() != Device.Kind.CUDA) {
            return;
        }
        long bytes = Math.multiplyExact(features.size(), shape.elements() * type.bytes());
        if (!leavesRoom(bytes, Libtorch.load().cudaMemoryFree())) {
            return;
        }
        Tensor all;
        try {
            all = Tensors.empty(rows(features.size()), type, device);
        } catch (LibtorchException failed) {
            if (leavesRoom(bytes, Libtorch.load().cudaMemoryFree())) {
                throw failed; // not for lack of memory
            }
            return; // another process has taken the memory
        }
        Scope.detach(all);
        resident = all;
        for (int start = 0; start < features.size(); start += CHUNK) {
            int end = Math.min(features.size(), start + CHUNK);
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

    public List<Sample> samples() {
        return samples;
    }

    public int crops() {
        return crops;
    }

    public int count() {
        return features.size();
    }

    /** Returns rows {@code [n, c, h, w]}, float32 on the extractor's device, in the current scope. */
    public Tensor rows(int[] places) {
        if (isResident()) {
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            return rows(Tensors.ofLongs(wide, Shape.of(wide.length)).to(device));
        }
        return gathered(places).to(device).to(DType.F32);
    }

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
        Tensor batch = Tensors.empty(rows(places.length), type, Device.CPU);
        MemorySegment target = batch.data();
        long bytes = shape.elements() * type.bytes();
        for (int i = 0; i < places.length; i++) {
            MemorySegment.copy(features.get(places[i]), 0, target, i * bytes, bytes);
        }
        return batch;
    }

    @Override
    public void close() {
        if (resident != null) {
            resident.close();
            resident = null;
        }
    }
}
