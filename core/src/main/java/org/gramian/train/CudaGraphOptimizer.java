package org.gramian.train;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.layer.Retraction;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.train.Optimizer.ParameterGroup;
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
 * value. The finite check, with the norm for clipping, and the update are each one pass over memory; sums have a fixed order, so that
 * the same gradients give the same bits.
 */
public final class CudaGraphOptimizer implements AutoCloseable {
    /** Blocks of a kernel that goes over all elements: enough for any GPU to be busy. */
    static final int BLOCKS = 2048;

    /** Elements of a gradient that is worth a launch of its own. */
    private static final long LARGE = 1 << 20;

    static final LaunchConfig ONE_BLOCK = new LaunchConfig(1, 1, 1, Launches.THREADS, 1);

    private final Optimizer optimizer;
    private final GpuStepState cells;
    private final GpuStiefelStep stiefel;
    private final HookResults results = new HookResults();

    public CudaGraphOptimizer(Optimizer optimizer, GpuStepState cells) {
        this.optimizer = optimizer;
        this.cells = cells;
        this.stiefel = new GpuStiefelStep(optimizer, cells);
    }

    public static boolean isSupported(List<ParameterGroup> groups, OptimizerRule options) {
        return groups.stream()
                .flatMap(group -> group.parameters().all().stream())
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .allMatch(parameter -> CudaProgram.isSupported(parameter.value())
                        && (parameter.spec().role() != Role.STIEFEL
                                || options.stiefel().retraction() == Retraction.QR));
    }

    /**
     * Sets the constants of the next step in the cells, before the step or the replay of its graph.
     *
     * @param ahead steps that were begun since the host last set the optimizer's step count
     */
    public void prepare(double rate, int ahead) {
        long before = optimizer.steps() + ahead;
        double correction1 = 1;
        double correction2 = 1;
        if (optimizer.options() instanceof AdamW options) {
            correction1 = AdamW.correction(options.beta1(), before + 1);
            correction2 = AdamW.correction(options.beta2(), before + 1);
        }
        cells.setStep(rate, correction1, correction2, optimizer.averageDecay(before));
    }

    public void taken(int steps) {
        optimizer.setSteps(optimizer.steps() + steps);
    }

    /**
     * Registers hooks that do a part of {@link #step} during the backward pass: steps on the Stiefel manifold, which are many small
     * products, and the finite check of large gradients. {@link #step} must then get the same groups and the gradients of that pass,
     * unchanged. There are no hooks if gradients are clipped: the factor depends on all of them.
     */
    public void registerHooks(Tape tape, List<ParameterGroup> groups, Map<Parameter, Var> variables) {
        results.clear(); // of a failed step
        if (optimizer.clip() > 0) {
            return;
        }
        for (ParameterGroup group : groups) {
            for (Parameter parameter : group.parameters().all()) {
                Var variable = variables.get(parameter);
                if (variable == null || !variable.wantsGradient()) {
                    continue;
                }
                if (parameter.spec().role() == Role.STIEFEL) {
                    results.awaited.add(parameter);
                    tape.scheduler().run(List.of(), () -> {
                        transport(parameter);
                        return List.of();
                    });
                    tape.hook(variable, gradient -> stepInHook(parameter, gradient, group));
                } else if (variable.shape().elements() >= LARGE) {
                    tape.hook(variable, gradient -> checkInHook(parameter, gradient, group));
                }
            }
        }
    }

    private void transport(Parameter parameter) {
        if (optimizer.state(parameter).isEmpty()) {
            return; // it has no gradient, or no momentum
        }
        Tensor transported = stiefel.transported(parameter);
        if (transported != null) {
            Scope.detach(transported);
            results.transported.put(parameter, transported);
        }
    }

    private void stepInHook(Parameter parameter, @Nullable Tensor gradient, ParameterGroup group) {
        results.awaited.remove(parameter);
        if (gradient != null) {
            GpuStiefelStep.Target target = target(parameter, gradient.contiguous(), group);
            target.tensors().forEach(Scope::detach);
            results.targets.put(parameter, target);
        }
        checkInHook(parameter, gradient, group);
    }

    private GpuStiefelStep.Target target(Parameter parameter, Tensor gradient, ParameterGroup group) {
        Tensor present = results.transported.get(parameter);
        return stiefel.of(parameter, gradient, group, present == null ? stiefel.transported(parameter) : present);
    }

    /** Checks gradients, after the steps on the manifold, which take longest. */
    private void checkInHook(Parameter parameter, @Nullable Tensor gradient, ParameterGroup group) {
        if (gradient != null) {
            results.unchecked.add(new Move(parameter, gradient, group));
        }
        if (results.awaited.isEmpty()) {
            check(results.unchecked);
            results.unchecked.forEach(each -> results.checked.add(each.parameter));
            results.unchecked.clear();
        }
    }

    /** Results of hooks, which the step uses. */
    private static final class HookResults {
        final Set<Parameter> awaited = new HashSet<>(); // on the Stiefel manifold, whose hooks did not run yet
        final Map<Parameter, Tensor> transported = new HashMap<>();
        final Map<Parameter, GpuStiefelStep.Target> targets = new HashMap<>();
        final List<Move> unchecked = new ArrayList<>();
        final Set<Parameter> checked = new HashSet<>();

        void clear() {
            targets.values().forEach(target -> target.tensors().forEach(Tensor::close));
            transported.values().forEach(Tensor::close);
            targets.clear();
            transported.clear();
            awaited.clear();
            unchecked.clear();
            checked.clear();
        }
    }

    /** Moves the parameters of all groups that have a gradient, if all is finite; the batch was observed before. */
    public void step(List<ParameterGroup> groups, Map<Parameter, Tensor> gradients) {
        try (Scope _ = Scope.open()) {
            List<Move> all = moves(groups, gradients);
            check(all.stream()
                    .filter(move -> !results.checked.contains(move.parameter))
                    .toList());
            Launches updates = new Launches();
            for (Move move : all) {
                if (move.isStiefel()) {
                    addTarget(updates, move);
                } else {
                    add(updates, move);
                }
            }
            cells.count();
            update(updates);
        } finally {
            results.clear();
        }
    }

    /** Frees the results of hooks that no step has used. */
    @Override
    public void close() {
        results.clear();
    }

    private record Move(Parameter parameter, Tensor gradient, ParameterGroup group) {
        boolean isStiefel() {
            return parameter.spec().role() == Role.STIEFEL;
        }
    }

    private List<Move> moves(List<ParameterGroup> groups, Map<Parameter, Tensor> gradients) {
        List<Move> moves = new ArrayList<>();
        for (ParameterGroup group : groups) {
            for (Parameter parameter : group.parameters().all()) {
                Tensor gradient = gradients.get(parameter);
                if (gradient != null) {
                    if (optimizer.ema() > 0 && optimizer.state(parameter, Optimizer.AVERAGE) == null) {
                        optimizer.setState(
                                parameter, Optimizer.AVERAGE, parameter.value().copy());
                    }
                    moves.add(new Move(parameter, gradient.contiguous(), group));
                }
            }
        }
        return moves;
    }

    private void check(List<Move> moves) {
        if (moves.isEmpty()) {
            return;
        }
        Launches launches = new Launches();
        moves.forEach(move -> launches.add(Entry.copying(move.gradient.contiguous(), move.parameter.value())));
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

    private void add(Launches updates, Move move) {
        boolean adaptive = optimizer.options() instanceof AdamW;
        boolean decays = move.parameter.spec().role() == Role.WEIGHT;
        updates.add(new Entry(
                move.parameter.value(),
                optimizer.stateOrZeros(move.parameter, adaptive ? AdamW.FIRST_MOMENT : Sgd.VELOCITY),
                adaptive ? optimizer.stateOrZeros(move.parameter, AdamW.SECOND_MOMENT) : null,
                optimizer.state(move.parameter, Optimizer.AVERAGE),
                move.gradient,
                (float) move.group.rate(),
                decays ? (float) (optimizer.options().weightDecay() * move.group.decay()) : 0));
    }

    /** Adds the end of a step on the Stiefel manifold, which a hook has computed or is computed here. */
    private void addTarget(Launches updates, Move move) {
        Parameter parameter = move.parameter;
        GpuStiefelStep.Target present = results.targets.get(parameter);
        GpuStiefelStep.Target target = present != null ? present : target(parameter, move.gradient, move.group);
        updates.add(Entry.copying(target.point().contiguous(), parameter.value())
                .withAverage(optimizer.state(parameter, Optimizer.AVERAGE)));
        target.state()
                .forEach((name, value) ->
                        updates.add(Entry.copying(value.contiguous(), optimizer.stateOrZeros(parameter, name))));
    }

    private void update(Launches updates) {
        switch (optimizer.options()) {
            case Sgd options ->
                updates.forEach(
                        (grid, table) -> launch("sgd", grid, cells.tensor(), (float) options.momentum(), table));
            case AdamW options ->
                updates.forEach((grid, table) -> launch(
                        "adamw",
                        grid,
                        cells.tensor(),
                        (float) options.beta1(),
                        (float) (1 - options.beta1()),
                        (float) options.beta2(),
                        (float) (1 - options.beta2()),
                        (float) AdamW.EPSILON,
                        table));
        }
    }

    static void launch(String kernel, LaunchConfig grid, @Nullable Object... arguments) {
        GpuStepState.PROGRAM.launch(kernel, grid, arguments);
    }

    /**
     * Tensors of a {@code struct Entry} in {@code step.cu}.
     *
     * @param first velocity or first moment; null if the source is the next value of the target
     */
    private record Entry(
            Tensor target,
            @Nullable Tensor first,
            @Nullable Tensor second,
            @Nullable Tensor average,
            Tensor source,
            float rate,
            float decay) {
        static Entry copying(Tensor source, Tensor target) {
            return new Entry(target, null, null, null, source, 0, 0);
        }

        Entry withAverage(@Nullable Tensor tensor) {
            return new Entry(target, first, second, tensor, source, rate, decay);
        }
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

        void add(Entry entry) {
            long count = entry.source.shape().elements();
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
            table.set(at, entry.target);
            table.set(at + 8, entry.first);
            table.set(at + 16, entry.second);
            table.set(at + 24, entry.average);
            table.set(at + 32, entry.source);
            table.set(at + 40, count);
            table.set(at + 48, entry.rate);
            table.set(at + 52, entry.decay);
            int first = blocks.getLast();
            table.set(FIRST + 4 * used, first);
            used++;
            table.set(SIZE, used);
            blocks.set(blocks.size() - 1, first + Math.toIntExact(Math.ceilDiv(count, (long) CHUNK)));
        }

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
