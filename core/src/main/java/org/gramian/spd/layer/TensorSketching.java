package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.WeakHashMap;
import java.util.function.DoubleFunction;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Tensor sketch of matrices, {@code v_k = Σ s1_i s2_j K_ij} over all i, j with {@code (h1_i + h2_j) mod d = k}: {@code
 * [n, C, C]} to {@code [n, d]}. Backward: {@code dK_ij = s1_i s2_j g_k}.
 *
 * <p>Each bin gathers its elements and adds them in a fixed order, so results are deterministic on a GPU too.
 * Reference: Gao, Beijbom, Zhang, Darrell, "Compact Bilinear Pooling", CVPR 2016.
 *
 * @param size d
 * @param bins h1, then h2, from 0 to d−1
 * @param signs s1, then s2
 */
public record TensorSketching(int size, List<Integer> bins, List<Integer> signs) {
    private record Key(TensorSketching sketching, DType type, Device device) {}

    /** A training run uses one; several folds or models may alternate in a process. */
    private static final int MAX_LAYOUTS = 4;

    /** Least recently used cache; evicted layouts are freed, concurrent users hold their own views. */
    private static final SequencedMap<Key, Layout> LAYOUTS = new LinkedHashMap<>(8, 0.75f, true);

    public TensorSketching {
        bins = List.copyOf(bins);
        signs = List.copyOf(signs);
        if (bins.isEmpty() || bins.size() % 2 != 0 || signs.size() != bins.size()) {
            throw new IllegalArgumentException("sketch: expected bins [2, C] and as many signs, found " + bins.size()
                    + " bins and " + signs.size() + " signs");
        }
    }

    /** Sketching read from tensors of a model. */
    private record Read(WeakReference<Tensor> signs, TensorSketching sketching) {}

    /** By bins, weakly: reading the tensors at every step would wait for the GPU. */
    private static final Map<Tensor, Read> READ = Collections.synchronizedMap(new WeakHashMap<>());

    /** Returns the sketching for bins and signs {@code [2, C]} of a model, which must not change in place. */
    public static TensorSketching of(int size, Tensor bins, Tensor signs) {
        Read known = READ.get(bins);
        if (known != null && known.signs.refersTo(signs) && known.sketching.size == size) {
            return known.sketching;
        }
        TensorSketching sketching = read(size, bins, signs);
        READ.put(bins, new Read(new WeakReference<>(signs), sketching));
        return sketching;
    }

    private static TensorSketching read(int size, Tensor bins, Tensor signs) {
        return new TensorSketching(
                size,
                whole(bins, value -> value >= 0 && value < size ? null : "bins from 0 to " + (size - 1)),
                whole(signs, value -> Math.abs(value) == 1 ? null : "signs of 1 and -1"));
    }

    private static List<Integer> whole(Tensor values, DoubleFunction<@Nullable String> wanted) {
        return Arrays.stream(values.toDoubles())
                .mapToObj(value -> {
                    String other = value == Math.rint(value) ? wanted.apply(value) : "whole numbers";
                    if (other != null) {
                        throw new IllegalArgumentException("sketch: expected " + other + ", found " + value + " in "
                                + values + "; the model is damaged");
                    }
                    return (int) value;
                })
                .toList();
    }

    /** Returns the number of rows C of the matrices. */
    int rows() {
        return bins.size() / 2;
    }

    /** Computes the sketch: K {@code [n, C, C]}; returns {@code [n, d]}. */
    public Var apply(Var matrices) {
        Tensor k = matrices.value();
        int rows = rows();
        if (k.shape().rank() != 3 || k.size(1) != rows || k.size(2) != rows) {
            throw new IllegalArgumentException("sketch: expected matrices [n, " + rows + ", " + rows + "], found " + k);
        }
        long n = k.size(0);
        return matrices.tape().apply(List.of(matrices), () -> {
            Layout layout = borrowed(new Key(this, k.type(), k.device()));
            Tensor gathered = k.reshape(n, (long) rows * rows)
                    .select(1, layout.elements())
                    .mulInPlace(layout.signs());
            Tensor sums = gathered.reshape(n, layout.deepest(size), size).sum(1);
            return Result.of(
                    sums.reshape(n, size),
                    (g, wanted) -> list(g.select(1, layout.bins())
                            .mulInPlace(layout.signsOfElements())
                            .reshape(n, rows, rows)),
                    layout.bins(),
                    layout.signsOfElements());
        });
    }

    private static Layout borrowed(Key key) {
        synchronized (LAYOUTS) {
            Layout layout = LAYOUTS.get(key);
            if (layout == null) {
                if (LAYOUTS.size() == MAX_LAYOUTS) {
                    LAYOUTS.pollFirstEntry().getValue().close();
                }
                layout = Layout.of(key.sketching(), key.type(), key.device());
                LAYOUTS.put(key, layout);
            }
            return layout.views();
        }
    }

    /**
     * Indices for gathering in both directions.
     *
     * @param elements {@code [deepest·d]}: index of the first element of every bin, of the second, …; 0 past its end
     * @param signs their signs, 0 past the end of a bin
     * @param bins {@code [C²]}: bin of every element
     * @param signsOfElements {@code [C²]}
     */
    private record Layout(Tensor elements, Tensor signs, Tensor bins, Tensor signsOfElements) implements AutoCloseable {
        static Layout of(TensorSketching sketching, DType type, Device device) {
            int rows = sketching.rows();
            int size = sketching.size();
            long[] bins = new long[rows * rows];
            double[] signs = new double[rows * rows];
            int[] filled = new int[size];
            int deepest = 0;
            for (int i = 0, place = 0; i < rows; i++) {
                for (int j = 0; j < rows; j++, place++) {
                    int bin = (sketching.bins().get(i) + sketching.bins().get(rows + j)) % size;
                    bins[place] = bin;
                    signs[place] = sketching.signs().get(i) * sketching.signs().get(rows + j);
                    deepest = Math.max(deepest, ++filled[bin]);
                }
            }
            long[] elements = new long[Math.multiplyExact(deepest, size)];
            double[] signsOfBins = new double[elements.length];
            for (int place = bins.length - 1; place >= 0; place--) { // the last element of a bin lies deepest
                int bin = (int) bins[place];
                int slot = --filled[bin] * size + bin;
                elements[slot] = place;
                signsOfBins[slot] = signs[place];
            }
            try (Scope _ = Scope.open()) {
                return new Layout(
                        kept(Tensors.ofLongs(elements, Shape.of(elements.length)), device),
                        kept(Tensors.of(signsOfBins, Shape.of(elements.length), type), device),
                        kept(Tensors.ofLongs(bins, Shape.of(bins.length)), device),
                        kept(Tensors.of(signs, Shape.of(bins.length), type), device));
            }
        }

        private static Tensor kept(Tensor made, Device device) {
            Tensor there = made.to(device);
            Scope.detach(there);
            return there;
        }

        /** Returns the number of elements of the fullest bin. */
        long deepest(int size) {
            return elements.size(0) / size;
        }

        /** Returns new handles on the same memory, owned by the current scope. */
        Layout views() {
            return new Layout(view(elements), view(signs), view(bins), view(signsOfElements));
        }

        private static Tensor view(Tensor vector) {
            return vector.slice(0, 0, vector.size(0));
        }

        @Override
        public void close() {
            elements.close();
            signs.close();
            bins.close();
            signsOfElements.close();
        }
    }
}
