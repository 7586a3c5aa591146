package org.gramian.train;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.Sgd.StiefelStep;
import org.jspecify.annotations.Nullable;

/**
 * The steps of an {@link Optimizer} on a GPU without host synchronization: they can be captured in a CUDA graph and replayed, for
 * they read the learning rate and the bias corrections from {@link GpuStepState} and move parameters in place.
 *
 * <p>A step is taken wholly or not at all. If the loss or a gradient is not finite, or the retraction onto the Stiefel manifold does
 * not converge, the cells say so and this step and all later ones change nothing, until the host reads the cells and takes that step
 * by the optimizer itself.
 *
 * <p>One launch handles up to {@value Launches#ENTRIES} parameters: it carries a table of their addresses, sizes, rates and decays by
 * value. The finite check, the norm for clipping and the update are each one pass; sums have a fixed order, so that the same
 * gradients give the same bits.
 *
 * <p>The retraction is {@link Retraction#QR} by products alone: with {@code E = QᵀQ − I} and its upper part {@code Ψ(E)}, the
 * diagonal halved, {@code Q ← Q(I − Ψ(E))} squares the error; every factor is upper triangular with a positive diagonal, so that
 * the limit is the Q of {@code W + ξ = QR}. For a tangent ξ the first error is {@code ξᵀξ}, which is far below 1 at usual rates.
 *
 * <p>Where TF32 is allowed, only {@code QᵀQ} is a float32 product: the other factors are as small as the error, so rounding them
 * leaves a part of it, which the next round corrects.
 */
public final class CudaGraphOptimizer {
    /** Blocks of a kernel that goes over all elements: enough for any GPU to be busy. */
    private static final int BLOCKS = 2048;

    private static final LaunchConfig ONE_BLOCK = new LaunchConfig(1, 1, 1, Launches.THREADS, 1);
    private static final int ITERATIONS = 3;

    /** What the last correction may be: its square is left, about the rounding error of float32. */
    private static final float LARGEST_CORRECTION = 3e-4f;

    private final Optimizer optimizer;
    private final GpuStepState cells;

    public CudaGraphOptimizer(Optimizer optimizer, GpuStepState cells) {
        this.optimizer = optimizer;
        this.cells = cells;
    }

    /** Returns whether the parameters of some groups can be moved like this. */
    public static boolean suits(List<ParameterGroup> groups, OptimizerOptions options) {
        return groups.stream()
                .flatMap(group -> group.parameters().all().stream())
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .allMatch(parameter -> CudaProgram.suits(parameter.value())
                        && (parameter.spec().role() != Role.STIEFEL
                                || options.stiefel().retraction() == Retraction.QR));
    }

    /**
     * Sets the constants of the next step in the cells, before the step or the replay of its graph.
     *
     * @param rate learning rate
     * @param ahead steps that were begun since the host last set the optimizer's step count
     */
    public void prepare(double rate, int ahead) {
        long before = optimizer.steps() + ahead;
        double correction1 = 1;
        double correction2 = 1;
        if (optimizer.options() instanceof AdamWOptions options) {
            correction1 = AdamW.correction(options.beta1(), before + 1);
            correction2 = AdamW.correction(options.beta2(), before + 1);
        }
        cells.setStep(rate, correction1, correction2, optimizer.averageDecay(before));
    }

    /** Adds steps that the cells counted to the optimizer's own count. */
    public void taken(int steps) {
        optimizer.setSteps(optimizer.steps() + steps);
    }

    /** Moves the parameters of all groups that have a gradient, if all is finite; the batch was observed before. */
    public void step(List<ParameterGroup> groups, Map<Parameter, Tensor> computed) {
        try (Scope _ = Scope.open()) {
            List<Move> all = moves(groups, computed);
            check(all);
            Map<Move, StiefelMove> stiefelMoves = new LinkedHashMap<>();
            all.stream().filter(Move::isStiefel).forEach(move -> stiefelMoves.put(move, stiefelMove(move)));
            cells.count();
            update(all.stream().filter(move -> !move.isStiefel()).toList());
            stiefelMoves.forEach((move, target) -> {
                takeOver(move.parameter.value(), target.point);
                target.state.forEach((name, value) -> takeOver(state(move.parameter, name), value));
            });
            if (optimizer.ema() > 0 && !stiefelMoves.isEmpty()) {
                launches(List.copyOf(stiefelMoves.keySet()))
                        .forEach((grid, table) -> launch("average_weights", grid, cells.tensor(), table));
            }
        }
    }

    /** A parameter with its gradient and its group. */
    private record Move(Parameter parameter, Tensor gradient, ParameterGroup group) {
        boolean isStiefel() {
            return parameter.spec().role() == Role.STIEFEL;
        }
    }

    /** Where a step on the Stiefel manifold ends: the point and the next state. */
    private record StiefelMove(Tensor point, Map<String, Tensor> state) {}

    private List<Move> moves(List<ParameterGroup> groups, Map<Parameter, Tensor> gradients) {
        List<Move> moves = new ArrayList<>();
        for (ParameterGroup group : groups) {
            for (Parameter parameter : group.parameters().all()) {
                Tensor gradient = gradients.get(parameter);
                if (gradient != null) {
                    if (optimizer.ema() > 0 && optimizer.state(parameter, Optimizer.AVERAGE) == null) {
                        optimizer.setState(parameter, Optimizer.AVERAGE, Tensors.copy(parameter.value()));
                    }
                    moves.add(new Move(parameter, Views.contiguous(gradient), group));
                }
            }
        }
        return moves;
    }

    private void check(List<Move> moves) {
        if (moves.isEmpty()) {
            return;
        }
        Launches launches = launches(moves);
        boolean clips = optimizer.clip() > 0;
        Tensor partial = Tensors.empty(
                Shape.of(clips ? launches.blocks() : 1),
                DType.F64,
                cells.tensor().device());
        launches.forEach(
                (grid, table) -> launch("check_gradients", grid, cells.tensor(), partial, clips ? 1 : 0, table));
        if (clips) {
            launch(
                    "clip_factor",
                    ONE_BLOCK,
                    cells.tensor(),
                    partial,
                    launches.blocks(),
                    optimizer.clip(),
                    Optimizer.NORM_EPSILON);
        }
    }

    private void update(List<Move> moves) {
        Launches launches = launches(moves);
        switch (optimizer.options()) {
            case SgdOptions options ->
                launches.forEach(
                        (grid, table) -> launch("sgd", grid, cells.tensor(), (float) options.momentum(), table));
            case AdamWOptions options ->
                launches.forEach((grid, table) -> launch(
                        "adamw",
                        grid,
                        cells.tensor(),
                        (float) options.beta1(),
                        (float) (1 - options.beta1()),
                        (float) options.beta2(),
                        (float) (1 - options.beta2()),
                        (float) AdamWOptions.EPSILON,
                        table));
        }
    }

    /** Computes a step as {@link StiefelStep} and {@link AdamW} do, but for the retraction and the rate, which is in the cells. */
    private StiefelMove stiefelMove(Move move) {
        StiefelOptions options = optimizer.options().stiefel();
        Tensor w = move.parameter.value();
        Tensor gradient = clipped(move.gradient);
        Map<String, Tensor> state = new LinkedHashMap<>();
        Tangent tangent;
        if (options.constantRate().isPresent()) {
            Tensor riemannian = Stiefel.gradient(w, gradient, options.metric());
            tangent = along(w, riemannian, -options.constantRate().getAsDouble(), true);
        } else {
            double factor = -move.group.rate() * options.multiplier();
            tangent = switch (optimizer.options()) {
                case SgdOptions sgd -> {
                    Tensor velocity;
                    if (sgd.momentum() == 0) {
                        velocity = Stiefel.gradient(w, gradient, options.metric());
                    } else {
                        velocity = velocity(
                                w, gradient, state(move.parameter, Sgd.VELOCITY), sgd.momentum(), options.metric());
                        state.put(Sgd.VELOCITY, velocity);
                    }
                    yield along(w, velocity, factor, false);
                }
                case AdamWOptions adamW -> {
                    Tensor riemannian = Stiefel.gradient(w, gradient, options.metric());
                    Tensor former = Stiefel.project(w, state(move.parameter, AdamW.FIRST_MOMENT));
                    Tensor first = Elementwise.addScaled(
                            Elementwise.mul(former, adamW.beta1()), riemannian, 1 - adamW.beta1());
                    state.put(AdamW.FIRST_MOMENT, first);
                    yield alongAdam(move.parameter, first, riemannian, new Adaptive(factor, adamW), state);
                }
            };
        }
        orthonormalize(tangent);
        return new StiefelMove(tangent.end, state);
    }

    /**
     * Tangent vector at W.
     *
     * @param vector ξ
     * @param end {@code W + ξ}
     */
    private record Tangent(Tensor vector, Tensor end) {}

    /**
     * Computes {@code ∇ + μ·P_W(V) = F + μV − W·S} with {@code S = FᵀW + μ·sym(VᵀW)}, or {@code sym(FᵀW)} in the Euclidean metric:
     * one product less than gradient and projection need by themselves.
     */
    private static Tensor velocity(Tensor w, Tensor f, Tensor former, double momentum, Metric metric) {
        int columns = Math.toIntExact(w.size(1));
        Tensor s = Tensors.empty(Shape.of(columns, columns), w);
        launch(
                "normal_part",
                overSquare(columns),
                Products.matmul(Views.transpose(f), w),
                Products.matmul(Views.transpose(former), w),
                s,
                columns,
                (float) momentum,
                metric == Metric.EUCLIDEAN ? 1 : 0);
        Tensor velocity = Products.matmul(w, s);
        long count = velocity.shape().elements();
        launch("next_velocity", LaunchConfig.over(count, BLOCKS), f, former, velocity, count, (float) momentum);
        return velocity;
    }

    private record Adaptive(double factor, AdamWOptions options) {}

    private Tangent alongAdam(
            Parameter parameter, Tensor first, Tensor riemannian, Adaptive adaptive, Map<String, Tensor> state) {
        Tensor w = parameter.value();
        Tensor second = state(parameter, AdamW.SECOND_MOMENT);
        Tensor next = Tensors.empty(second.shape(), second);
        Tensor rate = Tensors.empty(second.shape(), second);
        long count = w.shape().elements();
        launch(
                "riemannian_rate",
                ONE_BLOCK,
                cells.tensor(),
                Views.contiguous(riemannian),
                second,
                next,
                rate,
                count,
                adaptive.factor,
                adaptive.options.beta2(),
                AdamWOptions.EPSILON);
        state.put(AdamW.SECOND_MOMENT, next);
        Tangent tangent = new Tangent(Tensors.empty(w.shape(), w), Tensors.empty(w.shape(), w));
        launch(
                "along_rate",
                LaunchConfig.over(count, BLOCKS),
                w,
                Views.contiguous(first),
                rate,
                tangent.vector,
                tangent.end,
                count);
        return tangent;
    }

    private Tangent along(Tensor w, Tensor direction, double factor, boolean constant) {
        Tangent tangent = new Tangent(Tensors.empty(w.shape(), w), Tensors.empty(w.shape(), w));
        long count = w.shape().elements();
        launch(
                "along",
                LaunchConfig.over(count, BLOCKS),
                w,
                direction,
                cells.tensor(),
                tangent.vector,
                tangent.end,
                count,
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

    /** Makes the columns of the end of a tangent vector orthonormal, in place. */
    private void orthonormalize(Tangent tangent) {
        Tensor q = tangent.end;
        int columns = Math.toIntExact(q.size(1));
        long count = q.shape().elements();
        for (int i = 0; i < ITERATIONS; i++) {
            Tensor error = i == 0
                    ? Products.matmul(Views.transpose(tangent.vector), tangent.vector)
                    : Libtorch.load().exactly(() -> Products.matmul(Views.transpose(q), q));
            launch(
                    "upper_error",
                    overSquare(columns),
                    error,
                    cells.tensor(),
                    columns,
                    i == 0 ? 0f : 1f,
                    i == ITERATIONS - 1 ? LARGEST_CORRECTION : Float.MAX_VALUE);
            launch("subtract", LaunchConfig.over(count, BLOCKS), q, Products.matmul(q, error), count);
        }
    }

    private static LaunchConfig overSquare(int size) {
        return new LaunchConfig(Math.ceilDiv(size, 256), size, 1, 256, 1);
    }

    private void takeOver(Tensor target, Tensor value) {
        long count = target.shape().elements();
        launch("take_over", LaunchConfig.over(count, BLOCKS), target, Views.contiguous(value), cells.tensor(), count);
    }

    private static void launch(String kernel, LaunchConfig grid, Object... arguments) {
        GpuStepState.PROGRAM.launch(kernel, grid, arguments);
    }

    /** Returns a state tensor of a parameter, zeros at first; its address stays. */
    private Tensor state(Parameter parameter, String name) {
        Tensor state = optimizer.state(parameter, name);
        if (state == null) {
            Shape shape = optimizer.stateShapes(parameter).get(name);
            if (shape == null) {
                throw new IllegalArgumentException("the optimizer has no state " + name);
            }
            state = Tensors.zeros(shape, DType.F32, parameter.value().device());
            optimizer.setState(parameter, name, state);
        }
        return state;
    }

    private Launches launches(List<Move> moves) {
        Launches launches = new Launches();
        boolean adaptive = optimizer.options() instanceof AdamWOptions;
        for (Move move : moves) {
            boolean own = !move.isStiefel();
            launches.add(
                    move,
                    own ? state(move.parameter, adaptive ? AdamW.FIRST_MOMENT : Sgd.VELOCITY) : null,
                    own && adaptive ? state(move.parameter, AdamW.SECOND_MOMENT) : null,
                    optimizer.state(move.parameter, Optimizer.AVERAGE),
                    optimizer.options().weightDecay());
        }
        return launches;
    }

    /** Launches over many parameters; the layout of {@code struct Table} in {@code step.cu}. */
    private static final class Launches {
        static final int ENTRIES = 64;
        static final int THREADS = 256;
        private static final int CHUNK = 8192;
        private static final int ENTRY_BYTES = 56;
        private static final int FIRST = ENTRIES * ENTRY_BYTES;
        private static final int SIZE = FIRST + 4 * ENTRIES;
        private static final int START = SIZE + 4;

        private final List<CudaProgram.Struct> tables = new ArrayList<>();
        private final List<Integer> blocks = new ArrayList<>();
        private int used = ENTRIES;

        void add(Move move, @Nullable Tensor m, @Nullable Tensor v, @Nullable Tensor a, double weightDecay) {
            long count = move.gradient.shape().elements();
            if (count == 0) {
                return;
            }
            if (used == ENTRIES) {
                CudaProgram.Struct table = new CudaProgram.Struct(START + 4);
                table.set(START, blocks());
                tables.add(table);
                blocks.add(0);
                used = 0;
            }
            CudaProgram.Struct table = tables.getLast();
            int at = used * ENTRY_BYTES;
            table.set(at, move.parameter.value());
            table.set(at + 8, m);
            table.set(at + 16, v);
            table.set(at + 24, a);
            table.set(at + 32, move.gradient);
            table.set(at + 40, count);
            table.set(at + 48, (float) move.group.rate());
            double decay = move.parameter.spec().role() == Role.WEIGHT ? weightDecay * move.group.decay() : 0;
            table.set(at + 52, (float) decay);
            int first = blocks.getLast();
            table.set(FIRST + 4 * used, first);
            used++;
            table.set(SIZE, used);
            blocks.set(blocks.size() - 1, first + Math.toIntExact(Math.ceilDiv(count, (long) CHUNK)));
        }

        /** Returns the blocks of all launches together. */
        int blocks() {
            return blocks.stream().mapToInt(Integer::intValue).sum();
        }

        void forEach(BiConsumer<LaunchConfig, CudaProgram.Struct> launch) {
            for (int i = 0; i < tables.size(); i++) {
                launch.accept(new LaunchConfig(blocks.get(i), 1, 1, THREADS, 1), tables.get(i));
            }
        }
    }
}
