package org.gramian.spark.train;

import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Features of some crops, a view of one byte array, which Spark may spill to disk or send with any serializer: the number n of
 * crops, n places, n labels, all as int, then n features.
 *
 * @param places ascending
 * @param labels of the rows
 * @param features of the rows, one after the other
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record FeatureShard(int[] places, int[] labels, MemorySegment features) {
    /**
     * Layout of the features of crops.
     *
     * @param crops per image
     * @param shape {@code [c, h, w]}
     * @param type of the elements
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Layout(int crops, long[] shape, DType type) implements Serializable {
        /** Returns the shape of a number of crops, {@code [n, c, h, w]}. */
        Shape rows(int count) {
            return Shape.of(count, shape[0], shape[1], shape[2]);
        }

        /** Returns the bytes of one crop. */
        long bytes() {
            return rows(1).elements() * type.bytes();
        }
    }

    /**
     * One crop.
     *
     * @param place {@code image · crops + crop}
     * @param label of its image
     * @param feature {@code [c, h, w]}, as in {@link FeatureStore}
     */
    record Crop(int place, int label, byte[] feature) {}

    /** Packs crops, given in any order. */
    static byte[] pack(List<Crop> crops, Layout layout) {
        List<Crop> ordered =
                crops.stream().sorted(Comparator.comparingInt(Crop::place)).toList();
        ByteBuffer packed = ByteBuffer.allocate(Math.toIntExact(start(crops.size()) + crops.size() * layout.bytes()));
        packed.putInt(crops.size());
        ordered.forEach(crop -> packed.putInt(crop.place));
        ordered.forEach(crop -> packed.putInt(crop.label));
        ordered.forEach(crop -> packed.put(crop.feature));
        return packed.array();
    }

    /** Returns a view of a packed shard. */
    static FeatureShard open(byte[] packed) {
        ByteBuffer numbers = ByteBuffer.wrap(packed);
        int count = numbers.getInt();
        int[] places = new int[count];
        int[] labels = new int[count];
        Arrays.setAll(places, _ -> numbers.getInt());
        Arrays.setAll(labels, _ -> numbers.getInt());
        return new FeatureShard(places, labels, MemorySegment.ofArray(packed).asSlice(start(count)));
    }

    /** Returns the offset of the features. */
    private static long start(int count) {
        return (1 + 2L * count) * Integer.BYTES;
    }

    /** Copies the crops at some places that are in this shard, so that the shard need not stay in memory. */
    List<Crop> pick(int[] wanted, Layout layout) {
        List<Crop> found = new ArrayList<>();
        for (int place : wanted) {
            int row = Arrays.binarySearch(places, place);
            if (row >= 0) {
                byte[] feature =
                        features.asSlice(row * layout.bytes(), layout.bytes()).toArray(ValueLayout.JAVA_BYTE);
                found.add(new Crop(place, labels[row], feature));
            }
        }
        return found;
    }

    /** Returns the features of some rows, float32 {@code [n, c, h, w]}, in the current scope. */
    Tensor features(int[] rows, Layout layout, Device device) {
        return tensor(rows.length, layout, device, i -> features.asSlice(rows[i] * layout.bytes(), layout.bytes()));
    }

    /** Returns the features of crops, float32 {@code [n, c, h, w]}, in the current scope. */
    static Tensor tensor(List<Crop> crops, Layout layout, Device device) {
        return tensor(crops.size(), layout, device, i -> MemorySegment.ofArray(crops.get(i).feature));
    }

    private static Tensor tensor(int count, Layout layout, Device device, IntFunction<MemorySegment> feature) {
        Tensor rows = Tensors.empty(layout.rows(count), layout.type(), Device.CPU);
        MemorySegment target = rows.data();
        for (int i = 0; i < count; i++) {
            MemorySegment.copy(feature.apply(i), 0, target, i * layout.bytes(), layout.bytes());
        }
        return rows.to(device).to(DType.F32);
    }
}
