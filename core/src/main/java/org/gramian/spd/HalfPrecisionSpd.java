package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf.Kernels;
import org.gramian.spd.Rbf.Kernels.Distances;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Poolings {@code rbf/spd/relu/triu/root/l2} on a GPU as one node, with matrices and products of the SPD transformation
 * in float16, summed in float32. Bias and ReLU of a convolution before may be part of the node.
 *
 * <p>float16 has the mantissa of TF32, 10 bits, so it is used where TF32 is allowed: half the memory traffic and twice
 * the speed. The Gram matrix of the maps is a TF32 product as before, since maps have any range. All other matrices
 * have bounds: {@code K ≤ 1 + ε}, {@code |WᵀK| ≤ √C}, {@code |Y| ≤ C}. Gradients are multiplied by a power of two such
 * that {@code |E_ij| ≤ 2¹⁵/C'} for {@code E = dL/dY}; then {@code |WE|} and {@code |WEWᵀ|}, at most the Frobenius norm of
 * E, do not overflow either. The factor is computed on the GPU, so it is part of a CUDA graph.
 */
public final class HalfPrecisionSpd {
    private static final class Program {
        static final CudaProgram HALF = CudaProgram.beside(HalfPrecisionSpd.class, "half.cu");
    }

    /** cuBLAS needs rows of a multiple of 16 bytes for its fast kernels. */
    private static final int ALIGNMENT = 8;

    /** Largest finite power of two in float16. */
    private static final double LARGEST = 0x1p15;

    /** With a smaller ε the bound of gradients is so loose that they would lose digits. */
    private static final double SMALLEST_EPSILON = 1e-8;

    /** Blocks that share an image, each with rows of it; as in {@code half.cu}. */
    private static final int PARTS = 32;

    /** Rows of a block, one for each of its warps. */
    private static final int ROWS = 8;

    private HalfPrecisionSpd() {}

    /**
     * Returns whether this computation is available: TF32 is allowed, σ is constant, and sizes are multiples of 8.
     *
     * @param rbf kernel
     * @param maps M, or the input of the convolution that computes M
     * @param channels number of maps C
     * @param weight W {@code [C, C']}
     * @param epsilon ε of the root
     */
    public static boolean suits(Rbf rbf, Tensor maps, long channels, Tensor weight, double epsilon) {
        return CudaProgram.suits(maps)
                && Libtorch.load().math().tf32()
                && rbf.backward() == Backward.EXACT
                && rbf.hasConstantWidth()
                && epsilon >= SMALLEST_EPSILON
                && weight.size(0) == channels
                && weight.size(0) % ALIGNMENT == 0
                && weight.size(1) % ALIGNMENT == 0;
    }

    /**
     * Computes unit vectors {@code [n, C'(C'+1)/2]} of maps.
     *
     * @param rbf kernel
     * @param ofKernel its parameters
     * @param maps M {@code [n, C, N]}; with a bias, the maps are {@code max(M + b, 0)}
     * @param bias b {@code [C]}, or null
     * @param weight W {@code [C, C']}
     * @param epsilon ε of the root
     * @param smallest lower bound of the norm
     */
    public static Var unitRoots(
            Rbf rbf, Bindings ofKernel, Var maps, @Nullable Var bias, Var weight, double epsilon, double smallest) {
        List<Var> inputs = bias == null ? List.of(maps, weight) : List.of(maps, weight, bias);
        return maps.tape().apply(inputs, () -> {
            Tensor m = maps.value();
            @Nullable Tensor factor = rbf.constantFactor(m, ofKernel);
            @Nullable Activated activated = bias == null ? null : Activated.of(m, bias.value());
            return apply(
                    activated == null ? Kernels.distances(m, factor) : Kernels.ofCentred(activated.x, factor),
                    activated,
                    1 + rbf.jitter(),
                    weight.value(),
                    (float) epsilon,
                    (float) smallest);
        });
    }

    /**
     * Maps {@code max(M + b, 0)}, centred.
     *
     * @param x {@code [n, C, N]}
     * @param positive a bit for each element of {@code M + b} that is positive, I32 {@code [n, C, ⌈N/32⌉]}
     */
    private record Activated(Tensor x, Tensor positive) {
        static Activated of(Tensor maps, Tensor bias) {
            int n = Math.toIntExact(maps.size(0));
            int channels = Math.toIntExact(maps.size(1));
            int positions = Math.toIntExact(maps.size(2));
            Tensor x = Tensors.empty(maps.shape(), maps);
            Tensor positive =
                    Tensors.empty(Shape.of(n, channels, Math.ceilDiv(positions, 32)), DType.I32, maps.device());
            Program.HALF.launch(
                    "centre_relu", Kernels.centring(n, positions), maps, bias, x, positive, channels, positions);
            return new Activated(x, positive);
        }

        /**
         * Computes the gradients of M and b. That of M is {@code [C, n, N]} in memory, a matrix of all positions for the
         * gradient of the convolution's weight.
         *
         * @param tx TX {@code [n, C, N]}
         * @param rowSums row sums of T {@code [n, 1, C]}
         */
        List<Tensor> backward(Tensor tx, Tensor rowSums) {
            long n = x.size(0);
            long channels = x.size(1);
            Tensor gradient = Tensors.empty(Shape.of(channels, n, x.size(2)), x);
            Tensor sums = Tensors.empty(Shape.of(n, channels), x);
            Program.HALF.launch(
                    "maps_gradient_relu",
                    new LaunchConfig(Math.toIntExact(Math.ceilDiv(n * channels, (long) ROWS)), 1, 1, 32 * ROWS, 1),
                    tx,
                    x,
                    rowSums,
                    positive,
                    gradient,
                    sums,
                    Math.toIntExact(n),
                    Math.toIntExact(channels),
                    Math.toIntExact(x.size(2)));
            return List.of(Views.transpose(gradient, 0, 1), Views.reshape(Reductions.sum(sums, 0), channels));
        }
    }

    private static Result apply(
            Distances distances,
            @Nullable Activated activated,
            double diagonal,
            Tensor weight,
            float epsilon,
            float smallest) {
        Tensor gram = distances.gram();
        int n = Math.toIntExact(gram.size(0));
        int channels = Math.toIntExact(gram.size(1));
        int size = Math.toIntExact(weight.size(1));
        long length = (long) size * (size + 1) / 2;
        float rootOfEpsilon = (float) Math.sqrt(epsilon);
        LaunchConfig shares = new LaunchConfig(PARTS, n, 1, 32 * ROWS, 1);

        Tensor k = half(gram.shape(), gram);
        Program.HALF.launch(
                "gaussian", rows(k), gram, distances.norms(), distances.factor(), k, channels, distances.keep(), (float)
                        diagonal);
        Tensor w = Tensors.to(weight, DType.F16);
        Tensor wk = Products.matmul(Views.transpose(w), k);
        Tensor y = timesEach(wk, w);
        Tensor parts = Tensors.empty(Shape.of(n, PARTS), gram);
        Program.HALF.launch("squares", shares, y, parts, size, epsilon, rootOfEpsilon);
        Tensor u = Tensors.empty(Shape.of(n, length), gram);
        Program.HALF.launch("unit_vectors", shares, y, parts, u, size, length, epsilon, rootOfEpsilon, smallest);
        return Result.of(
                u,
                (upstream, wanted) -> {
                    Tensor g = Views.contiguous(upstream);
                    Tensor sums = Tensors.empty(Shape.of(n, PARTS), g);
                    Tensor maxima = Tensors.empty(Shape.of(n, PARTS), g);
                    Program.HALF.launch("along", shares, y, g, sums, maxima, size, length, epsilon, rootOfEpsilon);
                    Tensor dots = Tensors.empty(Shape.of(n), g);
                    Tensor scale = Tensors.empty(Shape.of(1), g);
                    Program.HALF.launch(
                            "scale_of_gradient",
                            new LaunchConfig(1, 1, 1, 1024, 1),
                            parts,
                            sums,
                            maxima,
                            dots,
                            scale,
                            n,
                            rootOfEpsilon,
                            smallest,
                            (float) (LARGEST / size));
                    Tensor e = half(y.shape(), g);
                    int tiles = Math.ceilDiv(size, Kernels.TILE);
                    Program.HALF.launch(
                            "matrix_gradient",
                            new LaunchConfig(tiles, tiles, n, Kernels.TILE, 8),
                            y,
                            g,
                            parts,
                            dots,
                            scale,
                            e,
                            size,
                            length,
                            epsilon,
                            rootOfEpsilon,
                            smallest);
                    @Nullable Tensor ofWeight = wanted[1] ? weightGradient(wk, e, scale) : null;
                    if (activated == null) {
                        return list(
                                wanted[0]
                                        ? mapsGradient(distances, null, k, w, e, scale)
                                                .getFirst()
                                        : null,
                                ofWeight);
                    }
                    if (!wanted[0] && !wanted[2]) {
                        return list(null, ofWeight, null);
                    }
                    List<Tensor> ofMaps = mapsGradient(distances, activated, k, w, e, scale);
                    return list(ofMaps.getFirst(), ofWeight, ofMaps.getLast());
                },
                distances.x(),
                activated == null ? distances.x() : activated.positive,
                distances.factor(),
                k,
                w,
                wk,
                y,
                parts);
    }

    /** Returns a launch with one warp for each row of a batch of matrices. */
    private static LaunchConfig rows(Tensor matrices) {
        return new LaunchConfig(
                Math.toIntExact(Math.ceilDiv(matrices.size(1), (long) ROWS)),
                Math.toIntExact(matrices.size(0)),
                1,
                32 * ROWS,
                1);
    }

    /** Computes {@code dL/dM}, and {@code dL/db} if there is a bias, from {@code dL/dK = WEWᵀ}. */
    private static List<Tensor> mapsGradient(
            Distances distances, @Nullable Activated activated, Tensor k, Tensor w, Tensor e, Tensor scale) {
        Tensor g = timesEach(Products.matmul(w, e), Views.transpose(w));
        Tensor t = Tensors.empty(k.shape(), scale);
        Tensor rowSums = Tensors.empty(Shape.of(k.size(0), 1, k.size(1)), scale);
        Program.HALF.launch(
                "distance_gradient", rows(k), g, k, distances.factor(), scale, t, rowSums, Math.toIntExact(k.size(1)));
        return activated == null
                ? List.of(Kernels.mapsGradient(t, rowSums, distances.x()))
                : activated.backward(Products.matmul(t, distances.x()), rowSums);
    }

    /**
     * Computes {@code dL/dW = 2·Σ_i (WᵀK_i)ᵀE_i} for symmetric E as one product over the rows of all images, divided by
     * a power of two above {@code n√C}, so that it does not overflow.
     */
    private static Tensor weightGradient(Tensor wk, Tensor e, Tensor scale) {
        long rows = wk.size(0) * wk.size(1);
        int divisor = Math.toIntExact(Long.highestOneBit((long) (wk.size(0) * Math.sqrt((double) wk.size(2)))) * 2);
        Tensor left = Views.transpose(Views.reshape(wk, 1, rows, wk.size(2)));
        Tensor right = Views.reshape(e, 1, rows, e.size(2));
        Tensor product = half(Shape.of(1, wk.size(2), e.size(2)), e);
        Products.addProducts(product, 0, 1.0 / divisor, left, right);
        int count = Math.toIntExact(wk.size(2) * e.size(2));
        Tensor gradient = Tensors.empty(Shape.of(wk.size(2), e.size(2)), scale);
        Program.HALF.launch("unscaled", LaunchConfig.over(count), product, scale, gradient, 2f * divisor, count);
        return gradient;
    }

    /** Computes {@code A_i·B} for a batch and one matrix as a single product of tall matrices. */
    private static Tensor timesEach(Tensor batch, Tensor b) {
        long n = batch.size(0);
        Tensor rows = Views.reshape(batch, n * batch.size(1), batch.size(2));
        return Views.reshape(Products.matmul(rows, b), n, batch.size(1), b.size(1));
    }

    private static Tensor half(Shape shape, Tensor on) {
        return Tensors.empty(shape, DType.F16, on.device());
    }
}
