package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.stream.IntStream;
import org.gramian.accelerate.FusedDescriptor.Form;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.spd.Kernel;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.UpperTriangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.SingleThreadWorkers;
import org.jspecify.annotations.Nullable;

/**
 * The paper's descriptor on the CPU in one node, {@code rbf/spd/relu/triu/root/l2}: maps {@code M [n, C, N]} and a
 * weight {@code W [C, C']} to unit vectors {@code [n, C'(C'+1)/2]}.
 *
 * <p>Computes what {@link Rbf}, {@link SpdTransform}, {@link UpperTriangle}, root and l2 compute one after the other,
 * in fewer operations and fewer passes over memory:
 *
 * <ul>
 *   <li>K, Y and their gradients are symmetric. Of {@code XXᵀ}, {@code WᵀKW} and {@code WEWᵀ} only the blocks on and
 *       above the diagonal are computed, and {@code dM = 4(rowsum(P)∘X − PX)} takes one product for two.
 *   <li>Each thread works on its own images, whose matrices fit into its cache, instead of all threads on each operator
 *       of the batch. So the descriptor of an image does not depend on the others.
 * </ul>
 */
final class CpuDescriptor {
    /** Rows of a block; 4 by 4 blocks take 10/16 of the operations, smaller ones run below the rate of products. */
    private static final long BLOCK = 128;

    /** With fewer maps the calls of an image's operators take longer than what they save. */
    private static final long FEWEST_IN_TRAINING = 256;

    private static final long FEWEST_IN_INFERENCE = 384;

    private final Form form;
    private final double width;
    private final Tensor maps;
    private final Tensor w;
    private final Tensor wTransposed;
    private final UpperTriangle.Layout layout;
    private final int n;
    private final long channels;
    private final long positions;
    private final long size;
    private final long length;
    private final double[] factors;
    private final double[] norms;

    private CpuDescriptor(Form form, double width, Tensor maps, Tensor weight) {
        this.form = form;
        this.width = width;
        this.maps = maps;
        this.w = weight.unsqueeze(0);
        this.wTransposed =
                w.transpose().contiguous(); // products with a transposed factor run at two thirds of the rate
        this.n = Math.toIntExact(maps.size(0));
        this.channels = maps.size(1);
        this.positions = maps.size(2);
        this.size = weight.size(1);
        this.length = UpperTriangle.length(size);
        this.layout = UpperTriangle.layout(size, weight, Backward.EXACT);
        this.factors = new double[n];
        this.norms = new double[n];
    }

    /**
     * Returns whether the descriptors can be computed here and this is the fastest way to do so.
     *
     * @param input features on the device, and of the type, of M
     * @param weight W {@code [C, C']}
     */
    static boolean isSupported(Var input, Var weight) {
        Tensor features = input.value();
        Tensor w = weight.value();
        boolean trained = input.wantsGradient() || weight.wantsGradient();
        return features.device().kind() == Device.Kind.CPU
                && (features.type() == DType.F32 || features.type() == DType.F64)
                && w.type() == features.type()
                && w.shape().rank() == 2
                && w.size(0) >= (trained ? FEWEST_IN_TRAINING : FEWEST_IN_INFERENCE)
                && w.size(1) <= w.size(0);
    }

    /** Computes the descriptors: M {@code [n, C, N]} and W {@code [C, C']} with {@code C' ≤ C}; returns {@code [n, C'(C'+1)/2]}. */
    static Var apply(Form form, Bindings ofKernel, Var maps, Var weight) {
        Kernel.requireMaps("rbf", maps);
        if (maps.shape().at(1) != weight.shape().at(0)) {
            throw new IllegalArgumentException(
                    "descriptor: expected maps [n, C, N] and a weight [C, C'], found " + maps + " and " + weight);
        }
        boolean trained = maps.wantsGradient() || weight.wantsGradient();
        double width = form.kernel().width(ofKernel);
        return maps.tape()
                .apply(
                        List.of(maps, weight),
                        () -> new CpuDescriptor(form, width, maps.value(), weight.value()).forward(trained));
    }

    /**
     * Values that the backward pass needs.
     *
     * @param x {@code [X 1 s] [n, C, N + 2]}: centred maps, ones, squared norms
     * @param k K {@code [n, C, C]}
     * @param roots {@code √(|v|+ε) [n, d]}
     */
    private record Saved(Tensor x, Tensor k, Tensor roots) {}

    private Result forward(boolean trained) {
        Tensor vectors = empty(n, length);
        @Nullable
        Saved saved = trained
                ? new Saved(empty(n, channels, positions + 2), empty(n, channels, channels), empty(n, length))
                : null;
        SingleThreadWorkers.inRanges(n, SingleThreadWorkers.ranges(n), (_, from, to) -> {
            try (Scope _ = Scope.open()) {
                Tensor k = empty(1, channels, channels);
                Tensor kw = empty(1, channels, size);
                Tensor y = empty(1, size, size);
                for (int i = from; i < to; i++) {
                    try (Scope _ = Scope.open()) {
                        Tensor ownK = saved == null ? k : image(saved.k, i);
                        kernel(i, saved, ownK);
                        kw.addProducts(0, 1, ownK, w);
                        upperProduct(y, wTransposed, kw);
                        vector(i, saved, y, image(vectors, i));
                    }
                }
            }
        });
        return saved == null ? Result.of(vectors, (_, _) -> list(null, null)) : recorded(vectors, saved);
    }

    private Result recorded(Tensor vectors, Saved saved) {
        return Result.of(
                vectors,
                (g, wanted) -> backward(g, vectors, saved, wanted),
                w,
                wTransposed,
                saved.x,
                saved.k,
                saved.roots);
    }

    /** Computes {@code K = exp(D·factor) + εI} with the squared distances {@code D = [X 1 s][−2X s 1]ᵀ}. */
    private void kernel(int i, @Nullable Saved saved, Tensor k) {
        Tensor m = image(maps, i);
        Tensor x = m.addScaled(m.sum(1), -1.0 / channels);
        boolean mean = Double.isNaN(width);
        double keep = mean ? 1 - Kernel.EQUALITY_MARGIN * maps.type().epsilon() : 1; // as SquaredDistances
        Tensor s = x.mul(x).sum(2).mulInPlace(keep);
        Tensor ones = Tensors.full(1, s.shape(), s.type(), s.device());
        Tensor left = Tensors.concat(List.of(x, ones, s), 2);
        Tensor right = Tensors.concat(List.of(x.mul(-2), s, ones), 2);
        if (saved != null) {
            image(saved.x, i).copyFrom(left);
        }
        upperProduct(k, left, right.transpose());
        k.diagonal().fill(0);
        List<Tensor> rows = upperRows(k);
        List<Tensor> squares = rows.stream().map(Tensor::relu).toList();
        double sigma = mean ? meanDistance(squares) : width;
        factors[i] = -0.5 / Math.pow(Math.max(sigma, Sigma.SMALLEST), 2);
        for (int row = 0; row < rows.size(); row++) {
            rows.get(row).copyFrom(squares.get(row).mulInPlace(factors[i]).expInPlace());
        }
        k.diagonal().fill(1 + form.kernel().jitter());
        mirror(k);
    }

    /** Computes the mean distance of different maps; distances beside the diagonal blocks count twice. */
    private double meanDistance(List<Tensor> squares) {
        double sum = 0;
        for (Tensor row : squares) {
            Tensor d = row.sqrt();
            Tensor block = d.slice(2, 0, d.size(1));
            sum += 2 * d.sum().item() - block.sum().item();
        }
        return sum / (channels * (channels - 1.0));
    }

    /** Computes the unit vector from the upper blocks of {@code Y = WᵀKW}. */
    private void vector(int i, @Nullable Saved saved, Tensor y, Tensor target) {
        Tensor elements = y.reshape(1, size * size).select(1, layout.toVector());
        Tensor v = (form.relu() ? elements.relu() : elements).mulInPlace(layout.factors());
        Tensor root = (form.relu() ? v : v.abs()).add(form.epsilon()).sqrtInPlace();
        Tensor value = v.div(root.add(Math.sqrt(form.epsilon())));
        norms[i] = Math.max(Math.sqrt(inner(value, value)), form.smallestNorm());
        target.copyFrom(value.mulInPlace(1 / norms[i]));
        if (saved != null) {
            image(saved.roots, i).copyFrom(root);
        }
    }

    private List<@Nullable Tensor> backward(Tensor g, Tensor vectors, Saved saved, boolean[] wanted) {
        int ranges = SingleThreadWorkers.ranges(n);
        @Nullable Tensor ofMaps = wanted[0] ? empty(n, channels, positions) : null;
        @Nullable
        Tensor ofWeight = wanted[1] ? Tensors.zeros(Shape.of(ranges, channels, size), w.type(), w.device()) : null;
        SingleThreadWorkers.inRanges(n, ranges, (range, from, to) -> {
            try (Scope _ = Scope.open()) {
                Tensor we = empty(1, channels, size);
                Tensor p = empty(1, channels, channels);
                for (int i = from; i < to; i++) {
                    try (Scope _ = Scope.open()) {
                        Tensor e = gradientOfMatrix(image(g, i), image(vectors, i), image(saved.roots, i));
                        we.addProducts(0, 1, w, e);
                        if (ofWeight != null) { // 2·K·WE
                            image(ofWeight, range).addProducts(1, 1 / norms[i], image(saved.k, i), we);
                        }
                        if (ofMaps != null) {
                            upperProduct(p, we, wTransposed);
                            image(ofMaps, i).copyFrom(gradientOfMaps(i, p, saved));
                        }
                    }
                }
            }
        });
        return list(ofMaps, ofWeight == null ? null : ofWeight.sum(0).reshape(channels, size));
    }

    /** Computes {@code 2‖v‖·dL/dY [1, C', C']}, a symmetric matrix; the products that follow take the factor in. */
    private Tensor gradientOfMatrix(Tensor g, Tensor u, Tensor root) {
        Tensor across = g.addScaled(u, -inner(u, g));
        Tensor ofVector = across.div(root).mulInPlace(layout.gradientFactors());
        if (form.relu()) {
            ofVector.mulInPlace(u.sign());
        }
        return ofVector.select(1, layout.toMatrix()).reshape(1, size, size);
    }

    /** Computes {@code dL/dM [1, C, N]} from the upper blocks of {@code 2‖v‖·dL/dK}, in their memory. */
    private Tensor gradientOfMaps(int i, Tensor p, Saved saved) {
        List<Tensor> rows = upperRows(p);
        List<Tensor> rowsOfK = upperRows(image(saved.k, i));
        for (int row = 0; row < rows.size(); row++) {
            rows.get(row).mulInPlace(rowsOfK.get(row));
        }
        p.diagonal().fill(0); // the diagonal of K is constant
        mirror(p);
        Tensor x = image(saved.x, i);
        Tensor px = p.matmul(x.slice(2, 0, positions + 1));
        Tensor weighted = x.slice(2, 0, positions).mul(px.slice(2, positions, positions + 1));
        Tensor difference = weighted.sub(px.slice(2, 0, positions));
        return difference.mulInPlace(2 * factors[i] / norms[i]);
    }

    /** Computes the blocks on and above the diagonal of {@code target = a·b}. */
    private static void upperProduct(Tensor target, Tensor a, Tensor b) {
        List<Tensor> rows = upperRows(target);
        for (int i = 0; i < rows.size(); i++) {
            long start = i * BLOCK;
            Tensor left = a.slice(1, start, start + rows.get(i).size(1));
            rows.get(i).addProducts(0, 1, left, b.slice(2, start, b.size(2)));
        }
    }

    /** Returns the rows of blocks from the diagonal on. */
    private static List<Tensor> upperRows(Tensor matrix) {
        long size = matrix.size(2);
        return IntStream.range(0, Math.toIntExact(Math.ceilDiv(size, BLOCK)))
                .mapToObj(i -> matrix.slice(1, i * BLOCK, Math.min(size, (i + 1) * BLOCK))
                        .slice(2, i * BLOCK, size))
                .toList();
    }

    /** Copies the blocks above the diagonal to those below it. */
    private static void mirror(Tensor matrix) {
        for (Tensor row : upperRows(matrix)) {
            long start = matrix.size(2) - row.size(2);
            long end = start + row.size(1);
            Tensor below = matrix.slice(1, end, matrix.size(1)).slice(2, start, end);
            if (below.size(1) > 0) {
                below.copyFrom(row.slice(2, end - start, row.size(2)).transpose());
            }
        }
    }

    /** Computes the inner product of two rows {@code [1, d]}. */
    private static double inner(Tensor a, Tensor b) {
        return a.matmul(b.transpose()).item();
    }

    private static Tensor image(Tensor batch, int i) {
        return batch.slice(0, i, i + 1);
    }

    private Tensor empty(long... sizes) {
        return Tensors.empty(Shape.of(sizes), maps);
    }
}
