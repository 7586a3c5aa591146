package org.gramian.spark.train;

import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Features of some crops, found by their places, as an executor holds them in memory: in Java's, so that Spark may put them on disk.
 *
 * @param places ascending
 * @param labels of the rows
 * @param features of the rows
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record FeatureShard(int[] places, int[] labels, byte[][] features) implements Serializable {
    /**
     * One crop.
     *
     * @param place {@code picture · crops + crop}
     * @param label of its picture
     * @param feature {@code [c, h, w]}, in the machine's byte order
     */
    record Crop(int place, int label, byte[] feature) implements Serializable {}

    static FeatureShard of(Iterator<Crop> crops) {
        List<Crop> all = new ArrayList<>();
        crops.forEachRemaining(all::add);
        all.sort(Comparator.comparingInt(Crop::place));
        return new FeatureShard(
                all.stream().mapToInt(Crop::place).toArray(),
                all.stream().mapToInt(Crop::label).toArray(),
                all.stream().map(Crop::feature).toArray(byte[][]::new));
    }

    /** The crops at some places, as far as they are here. */
    List<Crop> pick(int[] wanted) {
        List<Crop> found = new ArrayList<>();
        for (int place : wanted) {
            int row = Arrays.binarySearch(places, place);
            if (row >= 0) {
                found.add(new Crop(place, labels[row], features[row]));
            }
        }
        return found;
    }

    /** The labels of some rows. */
    int[] labels(int[] rows) {
        int[] some = new int[rows.length];
        for (int i = 0; i < rows.length; i++) {
            some[i] = labels[rows[i]];
        }
        return some;
    }

    /** The features of some rows, {@code [n, c, h, w]} in single precision; they belong to the current scope. */
    Tensor features(int[] rows, FeatureForm form, Device device) {
        byte[][] some = new byte[rows.length][];
        for (int i = 0; i < rows.length; i++) {
            some[i] = features[rows[i]];
        }
        return tensor(some, form, device);
    }

    /** Features as a tensor {@code [n, c, h, w]} in single precision; it belongs to the current scope. */
    static Tensor tensor(byte[][] features, FeatureForm form, Device device) {
        Tensor rows = Tensors.empty(form.rows(features.length), form.type(), Device.CPU);
        MemorySegment target = rows.data();
        for (int i = 0; i < features.length; i++) {
            MemorySegment.copy(MemorySegment.ofArray(features[i]), 0, target, i * form.bytes(), form.bytes());
        }
        return Tensors.to(Tensors.to(rows, device), DType.F32);
    }
}
