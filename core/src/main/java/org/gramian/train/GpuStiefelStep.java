package org.gramian.train;

import static org.gramian.train.CudaGraphOptimizer.BLOCKS;
import static org.gramian.train.CudaGraphOptimizer.ONE_BLOCK;
import static org.gramian.train.CudaGraphOptimizer.launch;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.Sgd.StiefelStep;
import org.jspecify.annotations.Nullable;

/**
 * Steps of {@link CudaGraphOptimizer} on the Stiefel manifold, as {@link StiefelStep} and {@link AdamW} compute them but for the
 * retraction and the rate, which is in the cells.
 *
 * <p>The retraction is {@link Retraction#QR} by products alone: with {@code E = QᵀQ − I} and its upper part {@code Ψ(E)}, the
 * diagonal halved, {@code Q ← Q(I − Ψ(E))} squares the error; every factor is upper triangular with a positive diagonal, so that
 * the limit is the Q of {@code W + ξ = QR}. For a tangent ξ the first error is {@code ξᵀξ}, which is far below 1 at usual rates.
 *
 * <p>Where TF32 is allowed, only {@code QᵀQ} is a float32 product: the other factors are as small as the error, so rounding them
 * leaves a part of it, which the next round corrects. Two rounds are enough for small steps. The third has kernels of its own,
 * which only copy Q if no element of the second {@code Ψ(E)} is above {@value #LARGEST_CORRECTION}/√k for k columns: then elements of
 * what is left, about {@code Ψ(E)²}, are below the rounding error of float32.
 */
final class GpuStiefelStep {
    /** Largest element of the last {@code Ψ(E)}; with a larger one the step is left to the host. */
    static final float LARGEST_CORRECTION = 3e-4f;

    /** Rows and columns of a tile of a matrix; as in {@code step.cu}. */
    private static final int TILE = 32;

    private final Optimizer optimizer;
    private final GpuStepState cells;

    GpuStiefelStep(Optimizer optimizer, GpuStepState cells) {
        this.optimizer = optimizer;
        this.cells = cells;
    }

    /** Where a step ends: the point and the next state. */
    record Target(Tensor point, Map<String, Tensor> state) {
        List<Tensor> tensors() {
            return Stream.concat(Stream.of(point), state.values().stream()).toList();
        }
    }

    /**
     * Computes what a step needs of the optimizer's state, without the gradient.
     *
     * @param parameter W {@code [rows, columns]}
     * @return for SGD {@code VᵀW [columns, columns]} of the velocity, for AdamW the first moment, projected onto the tangent space
     *     {@code [rows, columns]}; null with a constant rate, and for SGD without momentum
     */
    @Nullable
    Tensor transported(Parameter parameter) {
        Tensor w = parameter.value();
        if (optimizer.options().stiefel().constantRate().isPresent()) {
            return null;
        }
        return switch (optimizer.options()) {
            case Sgd sgd ->
                sgd.momentum() == 0
                        ? null
                        : optimizer
                                .stateOrZeros(parameter, Sgd.VELOCITY)
                                .transpose()
                                .matmul(w);
            case AdamW _ -> Stiefel.project(w, optimizer.stateOrZeros(parameter, AdamW.FIRST_MOMENT));
        };
    }

    Target of(Parameter parameter, Tensor unclipped, ParameterGroup group, @Nullable Tensor transported) {
        StiefelOptions options = optimizer.options().stiefel();
        Tensor w = parameter.value();
        Tensor gradient = clipped(unclipped);
        Map<String, Tensor> state = new LinkedHashMap<>();
        Tangent tangent;
        if (transported == null) {
            double rate = options.constantRate().orElse(group.rate() * options.multiplier());
            Tensor riemannian = Stiefel.gradient(w, gradient, options.metric());
            tangent = along(w, riemannian, null, -rate, options.constantRate().isPresent());
        } else {
            double factor = -group.rate() * options.multiplier();
            tangent = switch (optimizer.options()) {
                case Sgd sgd -> {
                    Momentum momentum =
                            new Momentum(gradient, optimizer.stateOrZeros(parameter, Sgd.VELOCITY), sgd.momentum());
                    Tensor velocity = w.matmul(normalPart(w, momentum, transported, options.metric()));
                    state.put(Sgd.VELOCITY, velocity);
                    yield along(w, velocity, momentum, factor, false);
                }
                case AdamW adamW -> {
                    Tensor riemannian = Stiefel.gradient(w, gradient, options.metric());
                    Tensor first = transported.mul(adamW.beta1()).addScaled(riemannian, 1 - adamW.beta1());
                    state.put(AdamW.FIRST_MOMENT, first);
                    yield alongAdam(parameter, first, riemannian, factor, adamW, state);
                }
            };
        }
        return new Target(orthonormalize(tangent), state);
    }

    /**
     * Tangent vector at W.
     *
     * @param vector ξ
     * @param end {@code W + ξ}
     */
    private record Tangent(Tensor vector, Tensor end) {}

    /**
     * The parts of the next velocity {@code ∇ + μ·P_W(V) = F + μV − W·S}.
     *
     * @param gradient F
     * @param velocity V
     * @param factor μ
     */
    private record Momentum(Tensor gradient, Tensor velocity, double factor) {}

    /** Computes {@code S = FᵀW + μ·sym(VᵀW)}, or {@code sym(FᵀW) + μ·sym(VᵀW)} in the Euclidean metric. */
    private static Tensor normalPart(Tensor w, Momentum momentum, Tensor vw, Metric metric) {
        int columns = Math.toIntExact(w.size(1));
        Tensor s = Tensors.empty(Shape.of(columns, columns), w);
        launch(
                "normal_part",
                overSquare(columns),
                momentum.gradient.transpose().matmul(w),
                vw,
                s,
                columns,
                (float) momentum.factor,
                metric == Metric.EUCLIDEAN ? 1 : 0);
        return s;
    }

    private Tangent alongAdam(
            Parameter parameter,
            Tensor first,
            Tensor riemannian,
            double factor,
            AdamW adamW,
            Map<String, Tensor> state) {
        Tensor w = parameter.value();
        Tensor second = optimizer.stateOrZeros(parameter, AdamW.SECOND_MOMENT);
        Tensor next = Tensors.empty(second.shape(), second);
        Tensor rate = Tensors.empty(second.shape(), second);
        long count = w.shape().elements();
        launch(
                "riemannian_rate",
                ONE_BLOCK,
                cells.tensor(),
                riemannian.contiguous(),
                second,
                next,
                rate,
                count,
                factor,
                adamW.beta2(),
                AdamW.EPSILON);
        state.put(AdamW.SECOND_MOMENT, next);
        Tangent tangent = new Tangent(Tensors.empty(w.shape(), w), Tensors.empty(w.shape(), w));
        launch(
                "along_rate",
                LaunchConfig.over(count, BLOCKS),
                w,
                first.contiguous(),
                rate,
                tangent.vector,
                tangent.end,
                count);
        return tangent;
    }

    /**
     * Moves along a direction.
     *
     * @param direction velocity, or {@code W·S}, which is overwritten by the next velocity, with momentum
     */
    private Tangent along(Tensor w, Tensor direction, @Nullable Momentum momentum, double factor, boolean constant) {
        Tangent tangent = new Tangent(Tensors.empty(w.shape(), w), Tensors.empty(w.shape(), w));
        long count = w.shape().elements();
        launch(
                "along",
                LaunchConfig.over(count, BLOCKS),
                w,
                direction,
                momentum == null ? null : momentum.gradient,
                momentum == null ? null : momentum.velocity,
                cells.tensor(),
                tangent.vector,
                tangent.end,
                count,
                momentum == null ? 0f : (float) momentum.factor,
                (float) factor,
                constant ? 1 : 0);
        return tangent;
    }

    private Tensor clipped(Tensor gradient) {
        if (optimizer.clip() == 0) {
            return gradient;
        }
        Tensor out = Tensors.empty(gradient.shape(), gradient);
        long count = gradient.shape().elements();
        launch("clipped", LaunchConfig.over(count, BLOCKS), cells.tensor(), gradient, out, count);
        return out;
    }

    /** Makes the columns of the end of a tangent vector orthonormal; the third round runs only if the second was not enough. */
    private Tensor orthonormalize(Tangent tangent) {
        Tensor q = tangent.end;
        int rows = Math.toIntExact(q.size(0));
        int columns = Math.toIntExact(q.size(1));
        Tensor again = Tensors.empty(Shape.of(1), DType.I32, q.device());
        correct(q, tangent.vector.transpose().matmul(tangent.vector), again, 0f, Float.POSITIVE_INFINITY);
        Tensor gram = Libtorch.load().exactly(() -> q.transpose().matmul(q));
        correct(q, gram, again, 1f, LARGEST_CORRECTION / (float) Math.sqrt(columns));
        int tiles = Math.ceilDiv(columns, TILE);
        launch(
                "remaining_error",
                new LaunchConfig(tiles, tiles, 1, TILE, 8),
                q,
                again,
                gram,
                cells.tensor(),
                rows,
                columns,
                LARGEST_CORRECTION);
        Tensor end = Tensors.empty(q.shape(), q);
        launch(
                "corrected",
                new LaunchConfig(tiles, Math.ceilDiv(rows, TILE), 1, TILE, 8),
                q,
                again,
                gram,
                end,
                rows,
                columns);
        return end;
    }

    /**
     * One round: {@code Q ← Q(I − Ψ(QᵀQ − I))}.
     *
     * @param gram {@code QᵀQ − (1 − unit)·I}, overwritten
     * @param again I32 {@code [1]}, set to 1 if an element of Ψ is above the bound; to 0 if the bound is infinite
     * @param unit 1, or 0 for the Gram matrix of a tangent vector
     * @param bound limit of Ψ for the flag
     */
    private static void correct(Tensor q, Tensor gram, Tensor again, float unit, float bound) {
        int columns = Math.toIntExact(q.size(1));
        long count = q.shape().elements();
        launch("upper_error", overSquare(columns), gram, again, columns, unit, bound);
        launch("subtract", LaunchConfig.over(count, BLOCKS), q, q.matmul(gram), count);
    }

    private static LaunchConfig overSquare(int size) {
        return new LaunchConfig(Math.ceilDiv(size, 256), size, 1, 256, 1);
    }
}
