package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Map;
import org.gramian.accelerate.FusedDescriptor.Form;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Poolings {@code rbf/spd/relu/triu/root/l2} on a GPU as one node, with matrices and products in float16, summed in
 * float32. Bias and ReLU of a convolution before may be part of the node.
 *
 * <p>float16 has the mantissa of TF32, 10 bits, so it is used where TF32 is allowed: half the memory traffic and twice
 * the speed. Its range is enough, since all matrices have bounds or are multiplied by powers of two that are computed on
 * the GPU, as a part of a CUDA graph:
 *
 * <ul>
 *   <li>{@code K ≤ 1 + ε}, {@code |WᵀK| ≤ √C}, {@code |Y| ≤ C}.
 *   <li>Centred maps are scaled image by image such that squared distances are at most 2¹⁵. The product of the maps adds
 *       the squared norms before it rounds, so that distances, not inner products, are rounded to float16: this changes
 *       K by less than the rounding of K does, whatever the norms are.
 *   <li>Gradients are scaled such that {@code |E_ij| ≤ 2¹⁵/C'} for {@code E = dL/dY}; then {@code |WE|} and {@code
 *       |WEWᵀ|}, at most the Frobenius norm of E, do not overflow either. Each row of {@code dL/dK∘K} has a scale of its
 *       own.
 * </ul>
 */
final class GpuDescriptor {
    private static final class Program {
        static final CudaProgram DESCRIPTOR = CudaProgram.of(GpuDescriptor.class, "descriptor.cu", Map.of());
    }

    /** cuBLAS needs rows of a multiple of 16 bytes for its fast kernels. */
    private static final int ALIGNMENT = 8;

    /** Largest finite power of two in float16. */
    private static final double LARGEST = 0x1p15;

    /**
     * Share of the squared norms by which squared distances are reduced if σ is the mean distance: more than the rounding
     * error of the product, so that equal maps are at distance 0.
     */
    private static final double EQUALITY_MARGIN = 0x1p-16;

    /** With a smaller ε the bound of gradients is so loose that they would lose digits. */
    private static final double SMALLEST_EPSILON = 1e-8;

    /** Blocks, or warps for small matrices, that share an image, each with rows of it; as in {@code descriptor.cu}. */
    private static final int PARTS = 32;

    /** Largest matrix whose vector one block computes. */
    private static final int SMALL = 128;

    /** Rows of a block, one for each of its warps. */
    private static final int ROWS = 8;

    /** Rows and columns of a tile of a matrix. */
    private static final int TILE = 32;

    private GpuDescriptor() {}

    /**
     * Returns whether the descriptors can be computed here: TF32 is allowed and sizes are multiples of 8.
     *
     * @param features features on the device, and of the type, of M
     * @param weight W {@code [C, C']}
     */
    static boolean isSupported(Form form, Tensor features, Tensor weight) {
        return features.type() == DType.F32 // in any memory format: they are made contiguous
                && CudaProgram.isSupported(weight)
                && Libtorch.load().math().tf32()
                && form.epsilon() >= SMALLEST_EPSILON
                && weight.size(0) % ALIGNMENT == 0
                && weight.size(1) % ALIGNMENT == 0;
    }

    /**
     * Computes unit vectors {@code [n, C'(C'+1)/2]} of maps.
     *
     * @param ofKernel parameters of the kernel
     * @param maps M {@code [n, C, N]}; with a bias, the maps are {@code max(M + b, 0)}
     * @param bias b {@code [C]}, or null
     * @param weight W {@code [C, C']}
     */
    static Var apply(Form form, Bindings ofKernel, Var maps, @Nullable Var bias, Var weight) {
        Rbf rbf = form.kernel();
        List<Var> inputs = bias == null ? List.of(maps, weight) : List.of(maps, weight, bias);
        return maps.tape()
                .apply(
                        inputs,
                        () -> apply(
                                KernelMatrices.of(
                                        maps.value().contiguous(),
                                        bias == null ? null : bias.value(),
                                        rbf.constantFactor(maps.value(), ofKernel),
                                        1 + rbf.jitter()),
                                weight,
                                (float) form.epsilon(),
                                (float) form.smallestNorm()));
    }

    /**
     * Kernel matrices of a batch of maps {@code M [n, C, N]} and the values from which the gradient of M is computed.
     *
     * @param k K {@code [n, C, C]}
     * @param factor {@code −1/2σ²} for distances of scaled maps {@code [n]}
     * @param scales powers of two by which maps are multiplied {@code [n]}
     * @param x centred and scaled maps {@code [n, C, P]}: N positions, and columns that add squared norms to a product
     * @param positive bits of the positive elements of {@code M + b}, U8 {@code [n, C, P/8]}, or null without a bias
     * @param positions N
     */
    private record KernelMatrices(
            Tensor k,
            Tensor factor,
            Tensor scales,
            Tensor x,
            @Nullable Tensor positive,
            int positions) {
        /** Columns of X that add squared norms, two numbers for each of both sides. */
        private static final int COLUMNS_OF_NORMS = 4;

        /** @param given {@code −1/2σ²} for all images, or null for the mean distance of each */
        static KernelMatrices of(Tensor maps, @Nullable Tensor bias, @Nullable Tensor given, double diagonal) {
            int n = Math.toIntExact(maps.size(0));
            int channels = Math.toIntExact(maps.size(1));
            int positions = Math.toIntExact(maps.size(2));
            int padded = Math.ceilDiv(positions + COLUMNS_OF_NORMS, ALIGNMENT) * ALIGNMENT;
            int blocks = Math.ceilDiv(positions, 32);
            Tensor means = Tensors.empty(Shape.of(n, positions), maps);
            Tensor ranges = Tensors.empty(Shape.of(n, blocks), maps);
            Program.DESCRIPTOR.launch(
                    "means", new LaunchConfig(blocks, n, 1, 32, 32), maps, bias, means, ranges, channels, positions);
            Tensor left = half(Shape.of(n, channels, padded), maps);
            Tensor right = half(left.shape(), maps);
            @Nullable
            Tensor positive =
                    bias == null ? null : Tensors.empty(Shape.of(n, channels, padded / 8), DType.U8, maps.device());
            Tensor scales = Tensors.empty(Shape.of(n), maps);
            Program.DESCRIPTOR.launch(
                    "centred",
                    overMaps(n, channels),
                    maps,
                    bias,
                    means,
                    ranges,
                    left,
                    right,
                    positive,
                    scales,
                    n,
                    channels,
                    positions,
                    padded,
                    given == null ? (float) (1 - EQUALITY_MARGIN) : 1f,
                    largest(positions));
            Tensor d = half(Shape.of(n, channels, channels), maps);
            d.addProducts(0, -2, left, right.transpose());
            LaunchConfig rows = rows(d);
            @Nullable Tensor parts = given == null ? Tensors.empty(Shape.of(n, rows.x()), maps) : null;
            if (parts != null) {
                Program.DESCRIPTOR.launch("distances", rows, d, parts, channels);
            }
            Tensor factor = Tensors.empty(Shape.of(n), maps);
            Program.DESCRIPTOR.launch(
                    "gaussian",
                    rows,
                    d,
                    scales,
                    parts,
                    given,
                    factor,
                    channels,
                    (float) ((double) channels * (channels - 1) / 2),
                    (float) Sigma.SMALLEST,
                    (float) diagonal);
            return new KernelMatrices(d, factor, scales, left, positive, positions);
        }

        /** Returns the largest power of two M for which N squares of numbers up to M have a sum of at most 2¹⁵. */
        private static float largest(int positions) {
            int bits = 32 - Integer.numberOfLeadingZeros(positions - 1); // ⌈log₂ N⌉
            return Math.scalb(1f, Math.floorDiv(15 - bits, 2));
        }

        /**
         * Computes {@code dL/dM}, and {@code dL/db} if there is a bias. With a bias {@code dL/dM} is {@code [C, n, N]} in
         * memory, a matrix of all positions for the gradient of the convolution's weight.
         *
         * @param g {@code scale·dL/dK [n, C, C]}
         */
        List<Tensor> backward(Tensor g, Tensor scale) {
            int n = Math.toIntExact(k.size(0));
            int channels = Math.toIntExact(k.size(1));
            Tensor laplacian = half(k.shape(), k);
            Tensor multipliers = Tensors.empty(Shape.of(n, channels), scale);
            Program.DESCRIPTOR.launch(
                    "laplacian",
                    rows(k),
                    g,
                    k,
                    factor,
                    scales,
                    scale,
                    laplacian,
                    multipliers,
                    channels,
                    largest(positions));
            Tensor lx = laplacian.matmul(x);
            boolean byChannel = positive != null;
            Tensor gradient = Tensors.empty(
                    byChannel ? Shape.of(channels, n, positions) : Shape.of(n, channels, positions), scale);
            @Nullable Tensor sums = byChannel ? Tensors.empty(Shape.of(n, channels), scale) : null;
            Program.DESCRIPTOR.launch(
                    "maps_gradient",
                    overMaps(n, channels),
                    lx,
                    multipliers,
                    positive,
                    gradient,
                    sums,
                    n,
                    channels,
                    positions,
                    Math.toIntExact(x.size(2)),
                    (long) positions * (byChannel ? 1 : channels),
                    (long) positions * (byChannel ? n : 1));
            return sums == null
                    ? List.of(gradient)
                    : List.of(gradient.transpose(0, 1), FeatureMapKernels.sumOverRows(sums));
        }
    }

    private static Result apply(KernelMatrices kernel, Var weight, float epsilon, float smallest) {
        Tensor k = kernel.k;
        int n = Math.toIntExact(k.size(0));
        int size = Math.toIntExact(weight.shape().at(1));
        long length = (long) size * (size + 1) / 2;
        float rootOfEpsilon = (float) Math.sqrt(epsilon);
        LaunchConfig shares = new LaunchConfig(PARTS, n, 1, 32 * ROWS, 1);

        Tensor w = weight.value().to(DType.F16);
        Tensor wk = w.transpose().matmul(k);
        Tensor y = timesEach(wk, w);
        Tensor parts = Tensors.empty(Shape.of(n, PARTS), kernel.scales);
        Tensor u = Tensors.empty(Shape.of(n, length), kernel.scales);
        if (size <= SMALL) {
            Program.DESCRIPTOR.launch(
                    "small_unit_vectors",
                    new LaunchConfig(n, 1, 1, 32 * PARTS, 1),
                    y,
                    parts,
                    u,
                    size,
                    length,
                    epsilon,
                    rootOfEpsilon,
                    smallest);
        } else {
            Program.DESCRIPTOR.launch("squares", shares, y, parts, size, epsilon, rootOfEpsilon);
            Program.DESCRIPTOR.launch(
                    "unit_vectors", shares, y, parts, u, size, length, epsilon, rootOfEpsilon, smallest);
        }
        return Result.of(
                u,
                (upstream, wanted) -> {
                    Tensor g = upstream.contiguous();
                    Tensor sums = Tensors.empty(Shape.of(n, PARTS), g);
                    Tensor maxima = Tensors.empty(Shape.of(n, PARTS), g);
                    Program.DESCRIPTOR.launch(
                            "along", shares, y, g, sums, maxima, size, length, epsilon, rootOfEpsilon);
                    Tensor dots = Tensors.empty(Shape.of(n), g);
                    Tensor scale = Tensors.empty(Shape.of(1), g);
                    Program.DESCRIPTOR.launch(
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
                    int tiles = Math.ceilDiv(size, TILE);
                    Program.DESCRIPTOR.launch(
                            "matrix_gradient",
                            new LaunchConfig(tiles, tiles, n, TILE, 8),
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
                    boolean hasBias = kernel.positive != null;
                    boolean ofMapsWanted = wanted[0] || (hasBias && wanted[2]);
                    @Nullable Tensor ofWeight = wanted[1] ? weightGradient(wk, e, scale) : null;
                    if (ofWeight != null) {
                        weight.tape().finished(weight, ofWeight); // beside the gradient of the maps
                    }
                    if (!ofMapsWanted) {
                        return hasBias ? list(null, ofWeight, null) : list(null, ofWeight);
                    }
                    Tensor ofKernel = timesEach(w.matmul(e), w.transpose());
                    List<Tensor> ofMaps = kernel.backward(ofKernel, scale);
                    return hasBias
                            ? list(ofMaps.getFirst(), ofWeight, ofMaps.getLast())
                            : list(ofMaps.getFirst(), ofWeight);
                },
                kernel.x,
                kernel.positive == null ? kernel.x : kernel.positive,
                kernel.scales,
                kernel.factor,
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

    /** Returns a launch with one warp for each map of a batch. */
    private static LaunchConfig overMaps(int n, int channels) {
        return new LaunchConfig(Math.toIntExact(Math.ceilDiv((long) n * channels, (long) ROWS)), 1, 1, 32 * ROWS, 1);
    }

    /**
     * Computes {@code dL/dW = 2·Σ_i (WᵀK_i)ᵀE_i} for symmetric E as one product over the rows of all images, divided by
     * a power of two above {@code n√C}, so that it does not overflow.
     */
    private static Tensor weightGradient(Tensor wk, Tensor e, Tensor scale) {
        long rows = wk.size(0) * wk.size(1);
        int divisor = Math.toIntExact(Long.highestOneBit((long) (wk.size(0) * Math.sqrt((double) wk.size(2)))) * 2);
        Tensor left = wk.reshape(1, rows, wk.size(2)).transpose();
        Tensor right = e.reshape(1, rows, e.size(2));
        Tensor product = half(Shape.of(1, wk.size(2), e.size(2)), e);
        product.addProducts(0, 1.0 / divisor, left, right);
        int count = Math.toIntExact(wk.size(2) * e.size(2));
        Tensor gradient = Tensors.empty(Shape.of(wk.size(2), e.size(2)), scale);
        Program.DESCRIPTOR.launch("unscaled", LaunchConfig.over(count), product, scale, gradient, 2f * divisor, count);
        return gradient;
    }

    /** Computes {@code A_i·B} for a batch and one matrix as a single product of tall matrices. */
    private static Tensor timesEach(Tensor batch, Tensor b) {
        long n = batch.size(0);
        Tensor rows = batch.reshape(n * batch.size(1), batch.size(2));
        return rows.matmul(b).reshape(n, batch.size(1), b.size(1));
    }

    private static Tensor half(Shape shape, Tensor on) {
        return Tensors.empty(shape, DType.F16, on.device());
    }
}
