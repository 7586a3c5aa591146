package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.backbone.network.VisionTransformer.Projection;
import org.gramian.tensor.Attention;
import org.gramian.tensor.Attention.Attended;
import org.gramian.tensor.Attention.FlashAttention;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.LayerNorm;
import org.gramian.tensor.LayerNorm.Gradients;
import org.gramian.tensor.LayerNorm.Normalized;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Block of a vision transformer for {@link DType#BF16} tokens and float32 parameters on a GPU. One launch rounds the parameters of
 * the block, layer norms are kernels, the first of them also adds the branch before it, linear layer and GELU are one node, and
 * gradients of biases are summed in the kernel that computes the gradient of the product.
 */
record FusedTokens(VisionTransformer.Block plain) implements NetworkLayer.Fused {
    private static final List<String> PROJECTIONS = List.of("attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2");
    private static final int LARGEST_HEAD = 128;

    /** Layer norm of tokens after the last block. */
    record Norm(VisionTransformer.Norm plain) implements NetworkLayer.Fused {
        @Override
        public Var apply(Var tokens, Bindings parameters) {
            Bindings own = parameters.under(name());
            return isSupported(tokens, own)
                    ? layerNorm(tokens, own.get("weight"), own.get("bias"))
                    : plain.apply(tokens, parameters);
        }
    }

    @Override
    public Var apply(Var tokens, Bindings parameters) {
        Bindings own = parameters.under(name());
        Bindings second = own.under("norm2");
        List<Tensor> exact = PROJECTIONS.stream()
                .flatMap(part -> Stream.of(own.get(part + ".weight"), own.get(part + ".bias")))
                .map(Var::value)
                .toList();
        if (!isSupported(tokens, own.under("norm1"))
                || !isSupported(tokens, second)
                || !ElementwiseKernels.isSupported(exact)) {
            return plain.apply(tokens, parameters);
        }
        List<Projection> linear =
                PROJECTIONS.stream().map(part -> plain.projection(part, own)).toList();
        Rounded rounded = Rounded.of(tokens.tape(), linear);
        Var normal = layerNorm(tokens, own.get("norm1.weight"), own.get("norm1.bias"));
        Var values = selfAttention(normal, linear.get(0), rounded, plain.heads());
        NormalizedSum attended =
                addAndNorm(tokens, linear(values, linear.get(1), rounded), second.get("weight"), second.get("bias"));
        Var hidden = linearGelu(attended.normalized, linear.get(2), rounded, Gelu.ERF);
        return attended.sum.add(linear(hidden, linear.get(3), rounded));
    }

    private static boolean isSupported(Var tokens, Bindings norm) {
        return LayerNormKernels.isSupported(tokens.value(), norm.get("weight").value())
                && LayerNormKernels.isSupported(tokens.value(), norm.get("bias").value());
    }

    /**
     * Parameters in bfloat16.
     *
     * @param flat elements of all parameters, which the tape owns
     * @param parameters float32 parameters in their order
     */
    record Rounded(Var flat, List<Var> parameters) {
        static Rounded of(Tape tape, List<Projection> projections) {
            List<Var> parameters = projections.stream()
                    .flatMap(each -> Stream.of(each.weight(), each.bias()))
                    .toList();
            List<Tensor> values = parameters.stream().map(Var::value).toList();
            return new Rounded(
                    tape.apply(List.of(), () -> Result.of(ElementwiseKernels.rounded(values), (g, wanted) -> list())),
                    parameters);
        }

        /** Returns a view of a parameter. */
        Tensor get(Var parameter) {
            long start = parameters.stream()
                    .takeWhile(each -> each != parameter)
                    .mapToLong(each -> each.shape().elements())
                    .sum();
            long end = start + parameter.shape().elements();
            return flat.value().slice(0, start, end).reshape(parameter.shape().sizes());
        }
    }

    /**
     * Linear layer {@code y = x·Wᵀ + b} inside a node.
     *
     * @param x input {@code [.., d]}
     * @param weight W in bfloat16
     * @param rows y {@code [m, k]}
     */
    private record Linear(Var x, Projection parameters, Tensor weight, Tensor rows) {
        static Linear of(Var x, Projection parameters, Rounded rounded) {
            Tensor w = rounded.get(parameters.weight());
            // rows: of a view with permuted dimensions libtorch would make one product per index of the first
            Tensor y = FusedTokens.rows(x.value()).linear(w, rounded.get(parameters.bias()));
            return new Linear(x, parameters, w, y);
        }

        /** Gives rows {@code [m, c]} the leading dimensions of x. */
        Tensor shaped(Tensor rows) {
            return rows.reshape(x.shape().with(-1, rows.size(1)).sizes());
        }

        /**
         * Computes {@code dx = g·W}, {@code dW = gᵀ·x} and {@code db = Σ g} over the rows.
         *
         * @param g gradient of y {@code [m, k]}
         * @param partial partial sums of its columns, or null if they are not computed yet
         */
        List<@Nullable Tensor> gradients(Tensor g, @Nullable Tensor partial, boolean[] wanted) {
            Tensor input = FusedTokens.rows(x.value());
            List<Tensor> reads = new ArrayList<>(List.of(input, g));
            if (partial != null) {
                reads.add(partial);
            }
            Supplier<List<@Nullable Tensor>> work = () -> list(
                    wanted[1] ? g.transpose().matmul(input, DType.F32) : null, wanted[2] ? sums(g, partial) : null);
            List<@Nullable Tensor> own = wanted[0] && wanted[1]
                    ? x.tape().parameterGradients(List.of(parameters.weight(), parameters.bias()), reads, work)
                    : work.get();
            Tensor ofX = wanted[0] ? g.matmul(weight).reshape(x.shape().sizes()) : null;
            return list(ofX, own.get(0), own.get(1));
        }

        private static Tensor sums(Tensor g, @Nullable Tensor partial) {
            return partial == null ? FeatureMapKernels.columnSums(g) : FeatureMapKernels.sumOverRows(partial);
        }
    }

    /** Computes {@code x·Wᵀ + b}. */
    static Var linear(Var x, Projection parameters, Rounded rounded) {
        return x.tape().apply(List.of(x, parameters.weight(), parameters.bias()), () -> {
            Linear y = Linear.of(x, parameters, rounded);
            return Result.of(y.shaped(y.rows), (g, wanted) -> y.gradients(aligned(g), null, wanted), y.weight);
        });
    }

    /** Computes {@code gelu(x·Wᵀ + b)}. */
    static Var linearGelu(Var x, Projection parameters, Rounded rounded, Gelu form) {
        return x.tape().apply(List.of(x, parameters.weight(), parameters.bias()), () -> {
            Linear y = Linear.of(x, parameters, rounded);
            return Result.of(
                    y.shaped(form.apply(y.rows)),
                    (g, wanted) -> {
                        FeatureMapKernels.GradientWithSums passed =
                                FeatureMapKernels.geluBackward(aligned(g), y.rows, form);
                        return y.gradients(passed.input(), passed.partial(), wanted);
                    },
                    y.weight,
                    y.rows);
        });
    }

    /** Computes self-attention of several heads of joint queries, keys and values {@code x·Wᵀ + b}. */
    static Var selfAttention(Var x, Projection parameters, Rounded rounded, int heads) {
        List<Var> inputs = List.of(x, parameters.weight(), parameters.bias());
        long width = parameters.weight().shape().at(0) / 3;
        Attention attention = new Attention(Math.sqrt((double) heads / width));
        return x.tape().apply(inputs, () -> {
            Linear projection = Linear.of(x, parameters, rounded);
            Tensor joint = projection.shaped(projection.rows);
            Attention.Inputs parts = Attention.Inputs.of(joint, heads);
            if (inputs.stream().noneMatch(Var::wantsGradient)) {
                return Result.of(Attention.merged(attention.apply(parts)), (g, wanted) -> list());
            }
            boolean flash = isFlashSupported(parts);
            Attended attended = flash ? FlashAttention.forward(parts, attention.scale()) : attention.forward(parts);
            return Result.of(
                    Attention.merged(attended.value()),
                    (g, wanted) -> {
                        Tensor up = g.split(2, heads, width / heads).transpose(1, 2);
                        Attention.Inputs of = Attention.Inputs.of(joint, heads);
                        List<Tensor> rows = Stream.of(
                                        flash
                                                ? FlashAttention.backward(up, of, attended, attention.scale())
                                                : attention.backward(up, of, attended))
                                .map(part -> aligned(Attention.merged(part)))
                                .toList();
                        FeatureMapKernels.GradientWithSums joined =
                                FeatureMapKernels.joined(rows.get(0), rows.get(1), rows.get(2));
                        return projection.gradients(joined.input(), joined.partial(), wanted);
                    },
                    projection.weight,
                    joint,
                    attended.value(),
                    attended.saved());
        });
    }

    /** Deterministic algorithms are excluded: the gradient of the queries sums blocks in any order. */
    private static boolean isFlashSupported(Attention.Inputs x) {
        Tensor q = x.query();
        return Rule.ATTENTION.isEnabled()
                && q.size(3) % 8 == 0
                && q.size(3) <= LARGEST_HEAD
                && Stream.of(q, x.key(), x.value()).allMatch(FusedTokens::hasAlignedHeads)
                && !Libtorch.load().math().reproducible()
                && CudaProgram.hasBfloat16TensorCores(q.device());
    }

    /** Returns whether every row of a head begins at a multiple of 16 bytes. */
    private static boolean hasAlignedHeads(Tensor heads) {
        long[] strides = heads.strides();
        return strides[3] == 1
                && strides[0] % 8 == 0
                && strides[1] % 8 == 0
                && strides[2] % 8 == 0
                && CudaProgram.isAligned(heads);
    }

    /** Normalizes the last dimension, see {@link LayerNorm}. */
    static Var layerNorm(Var x, Var gamma, Var beta) {
        return layerNorm(
                x,
                gamma,
                beta,
                () -> LayerNormKernels.apply(
                                aligned(x.value()), null, gamma.value(), beta.value(), VisionTransformer.EPSILON)
                        .normalized());
    }

    private static Var layerNorm(Var x, Var gamma, Var beta, Supplier<Normalized> function) {
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Normalized normalized = function.get();
            return Result.of(
                    normalized.value().reshape(x.shape().sizes()),
                    (g, wanted) -> {
                        LayerNorm.Gradients found = LayerNormKernels.backward(
                                aligned(g), aligned(x.value()), gamma.value(), normalized, wanted);
                        Tensor rows = found.rows();
                        Tensor ofX =
                                rows == null ? null : rows.reshape(x.shape().sizes());
                        return list(ofX, found.gamma(), found.beta());
                    },
                    normalized.mean(),
                    normalized.inverse());
        });
    }

    /** Sum of tokens and its layer norm: sum {@code [.., d]} and normalized {@code [.., d]}. */
    record NormalizedSum(Var sum, Var normalized) {}

    /** Computes {@code x + branch} and its layer norm, in training in one pass over memory. */
    static NormalizedSum addAndNorm(Var x, Var branch, Var gamma, Var beta) {
        if (!x.wantsGradient() && !branch.wantsGradient()) {
            Var sum = x.add(branch);
            return new NormalizedSum(sum, layerNorm(sum, gamma, beta));
        }
        AtomicReference<Normalized> normalized = new AtomicReference<>();
        Var sum = x.tape().apply(List.of(x, branch), () -> {
            LayerNormKernels.Sum found = LayerNormKernels.apply(
                    aligned(x.value()),
                    aligned(branch.value()),
                    gamma.value(),
                    beta.value(),
                    VisionTransformer.EPSILON);
            Normalized saved = found.normalized(); // saved by this node, whose gradient is computed after the norm's
            normalized.set(saved);
            Tensor value = found.rows().reshape(x.shape().sizes());
            return Result.of(value, (g, wanted) -> list(g, g), saved.value(), saved.mean(), saved.inverse());
        });
        return new NormalizedSum(sum, layerNorm(sum, gamma, beta, normalized::get));
    }

    private static Tensor aligned(Tensor x) {
        return LayerNormKernels.aligned(rows(x));
    }

    private static Tensor rows(Tensor x) {
        long size = x.size(-1);
        return x.reshape(x.shape().elements() / size, size);
    }

    /**
     * CUDA kernels for layer norm of rows in {@link DType#BF16} with float32 parameters: one pass over the rows, and one for the
     * gradients. Sums have a fixed order.
     */
    static final class LayerNormKernels {
        private static final int VECTOR = 4;
        private static final int WARP = 32;
        private static final int WARPS = 8;

        /** Vectors of a lane: more would not fit into registers in the gradient. */
        private static final int MOST = 8;

        /** Blocks of the gradient, two per multiprocessor of an H100: each leaves a row of partial sums. */
        private static final int BLOCKS = 264;

        /** Programs by the number of vectors of a lane. */
        private static final Map<Integer, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

        /** Sum of rows with its normalized rows: rows {@code [m, d]}. */
        record Sum(Tensor rows, Normalized normalized) {}

        /** @param parameter γ or β */
        static boolean isSupported(Tensor rows, Tensor parameter) {
            return rows.device().kind() == Device.Kind.CUDA
                    && rows.type() == DType.BF16
                    && rows.shape().elements() > 0
                    && rows.shape().elements() / rows.size(-1) < Integer.MAX_VALUE / 2
                    && rows.size(-1) % VECTOR == 0
                    && rows.size(-1) <= (long) MOST * VECTOR * WARP
                    && parameter.shape().equals(Shape.of(rows.size(-1)))
                    && CudaProgram.isSupported(parameter)
                    && CudaProgram.isAligned(parameter);
        }

        /** Returns rows without gaps whose vectors begin at multiples of their size. */
        static Tensor aligned(Tensor rows) {
            Tensor dense = rows.contiguous();
            return CudaProgram.isAligned(dense) ? dense : dense.copy();
        }

        static CudaProgram program(int vectors) {
            return PROGRAMS.computeIfAbsent(
                    vectors, _ -> CudaProgram.of(LayerNormKernels.class, "layernorm.cu", Map.of("VECTORS", vectors)));
        }

        private static CudaProgram program(Tensor rows) {
            return program((int) Math.ceilDiv(rows.size(1), (long) VECTOR * WARP));
        }

        /**
         * Normalizes rows, or the sum of two.
         *
         * @param x {@code [m, d]}, {@linkplain #aligned aligned}
         * @param branch {@code [m, d]}, aligned, added to x, or null
         */
        static Sum apply(Tensor x, @Nullable Tensor branch, Tensor gamma, Tensor beta, double epsilon) {
            int rows = Math.toIntExact(x.size(0));
            Tensor sum = branch == null ? null : Tensors.emptyLike(x);
            Tensor y = Tensors.emptyLike(x);
            Tensor mean = Tensors.empty(Shape.of(rows, 1), gamma);
            Tensor inverse = Tensors.empty(Shape.of(rows, 1), gamma);
            program(x)
                    .launch(
                            "layer_norm",
                            new LaunchConfig(Math.ceilDiv(rows, WARPS), 1, 1, WARP, WARPS),
                            x,
                            branch,
                            sum,
                            gamma,
                            beta,
                            y,
                            mean,
                            inverse,
                            rows,
                            (int) x.size(1) / VECTOR,
                            (float) epsilon);
            return new Sum(sum == null ? x : sum, new Normalized(y, mean, inverse));
        }

        /** Computes the gradients of {@link #apply}, see {@link org.gramian.tensor.LayerNorm#backward}. */
        static Gradients backward(Tensor g, Tensor x, Tensor gamma, Normalized of, boolean[] wanted) {
            int rows = Math.toIntExact(x.size(0));
            long size = x.size(1);
            int blocks = Math.min(BLOCKS, Math.ceilDiv(rows, WARPS));
            boolean sums = wanted[1] || wanted[2];
            Tensor dx = wanted[0] ? Tensors.emptyLike(x) : null;
            Tensor partial = sums ? Tensors.empty(Shape.of(blocks, 2 * size), gamma) : null;
            program(x)
                    .launch(
                            "layer_norm_backward",
                            new LaunchConfig(blocks, 1, 1, WARP, WARPS),
                            g,
                            x,
                            gamma,
                            of.mean(),
                            of.inverse(),
                            dx,
                            partial,
                            rows,
                            (int) size / VECTOR);
            if (partial == null) {
                return new Gradients(dx, null, null);
            }
            Tensor both = FeatureMapKernels.sumOverRows(partial);
            return new Gradients(
                    dx, wanted[1] ? both.slice(0, 0, size) : null, wanted[2] ? both.slice(0, size, 2 * size) : null);
        }
    }
}
