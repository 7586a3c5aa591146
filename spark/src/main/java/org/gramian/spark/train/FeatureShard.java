package org.gramian.spark.train;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Features of some crops, found by their places, over the bytes as which an executor holds them in memory: one array of Java's,
 * which Spark may put on disk or send by any serializer. These are the number n of crops, n places, n labels, all as int, and n
 * features.
 *
 * @param places ascending
 * @param labels of the rows
 * @param features of the rows, one after the other
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record FeatureShard(int[] places, int[] labels, MemorySegment features) {
    /**
     * One crop.
     *
     * @param place {@code image · crops + crop}
     * @param label of its image
     * @param feature {@code [c, h, w]}, as {@link FeatureStore} keeps it
     */
    record Crop(int place, int label, byte[] feature) {}

    /** The bytes of a shard of these crops, given in any order. */
    static byte[] pack(List<Crop> crops, FeatureForm form) {
        List<Crop> ordered =
                crops.stream().sorted(Comparator.comparingInt(Crop::place)).toList();
        ByteBuffer packed = ByteBuffer.allocate(Math.toIntExact(start(crops.size()) + crops.size() * form.bytes()));
        packed.putInt(crops.size());
        ordered.forEach(crop -> packed.putInt(crop.place));
        ordered.forEach(crop -> packed.putInt(crop.label));
        ordered.forEach(crop -> packed.put(crop.feature));
        return packed.array();
    }

    /** Looks at the bytes of a shard, which are not copied. */
    static FeatureShard open(byte[] packed) {
        ByteBuffer numbers = ByteBuffer.wrap(packed);
        int count = numbers.getInt();
        int[] places = new int[count];
        int[] labels = new int[count];
        Arrays.setAll(places, _ -> numbers.getInt());
        Arrays.setAll(labels, _ -> numbers.getInt());
        return new FeatureShard(places, labels, MemorySegment.ofArray(packed).asSlice(start(count)));
    }

    /** Where features begin. */
    private static long start(int count) {
        return (1 + 2L * count) * Integer.BYTES;
    }

    /** Copies of the crops at some places, as far as they are here: what a shard has beside them need not stay in memory. */
    List<Crop> pick(int[] wanted, FeatureForm form) {
        List<Crop> found = new ArrayList<>();
        for (int place : wanted) {
            int row = Arrays.binarySearch(places, place);
            if (row >= 0) {
                byte[] feature =
                        features.asSlice(row * form.bytes(), form.bytes()).toArray(ValueLayout.JAVA_BYTE);
                found.add(new Crop(place, labels[row], feature));
            }
        }
        return found;
    }

    /** The features of some rows, {@code [n, c, h, w]} in single precision; they belong to the current scope. */
    Tensor features(int[] rows, FeatureForm form, Device device) {
        Tensor some = Tensors.empty(form.rows(rows.length), form.type(), Device.CPU);
        MemorySegment target = some.data();
        for (int i = 0; i < rows.length; i++) {
            MemorySegment.copy(features, rows[i] * form.bytes(), target, i * form.bytes(), form.bytes());
        }
        return Tensors.to(Tensors.to(some, device), DType.F32);
    }

    /** Features of crops as a tensor {@code [n, c, h, w]} in single precision; it belongs to the current scope. */
    static Tensor tensor(List<Crop> crops, FeatureForm form, Device device) {
        Tensor rows = Tensors.empty(form.rows(crops.size()), form.type(), Device.CPU);
        MemorySegment target = rows.data();
        for (int i = 0; i < crops.size(); i++) {
            MemorySegment.copy(MemorySegment.ofArray(crops.get(i).feature), 0, target, i * form.bytes(), form.bytes());
        }
        return Tensors.to(Tensors.to(rows, device), DType.F32);
    }
}
