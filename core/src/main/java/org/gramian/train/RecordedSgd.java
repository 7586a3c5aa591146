package org.gramian.train;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.Grid;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The steps of an {@link Sgd} on a GPU without a word from the host: they can be recorded and repeated, since they read the
 * learning rate from {@link StepCells} and move parameters in place.
 *
 * <p>A step is taken wholly or not at all. If the loss or a gradient is no finite number, or the way back onto the Stiefel
 * manifold does not end there, the cells say so and nothing is moved, by this step or any that was begun after it; the host
 * finds out when it next looks, and takes that step itself.
 *
 * <p>The retraction is {@link Retraction#QR} by products alone: with {@code E = QᵀQ − I} and its upper part {@code Ψ(E)}, the
 * diagonal halved, {@code Q ← Q(I − Ψ(E))} squares the error; every factor is upper triangular with a positive diagonal, so that
 * the limit is the Q of {@code W + ξ = QR}. For a tangent ξ the first error is {@code ξᵀξ}: it has to be well below 1, which
 * it is by far at usual rates.
 */
public final class RecordedSgd {
    /** Blocks of a kernel that goes over all elements: enough for any GPU to be busy. */
    private static final int BLOCKS = 2048;

    private static final int ITERATIONS = 3;

    /** What the last correction may be: its square is left, about the rounding error of single precision. */
    private static final float LARGEST_CORRECTION = 3e-4f;

    private final Sgd sgd;
    private final StepCells cells;

    public RecordedSgd(Sgd sgd, StepCells cells) {
        this.sgd = sgd;
        this.cells = cells;
    }

    /** Whether parameters of some groups can be moved like this. */
    public static boolean suits(List<ParameterGroup> groups, SgdOptions options) {
        return groups.stream()
                .flatMap(group -> group.parameters().all().stream())
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .allMatch(parameter -> CudaProgram.suits(parameter.value())
                        && (parameter.spec().role() != Role.STIEFEL
                                || options.stiefel().retraction() == Retraction.QR));
    }

    /** Moves the parameters of all groups that have a gradient, if nothing is wrong; the batch was observed before. */
    public void step(List<ParameterGroup> groups, Map<Parameter, Tensor> computed) {
        try (Scope _ = Scope.open()) {
            Map<Parameter, Tensor> gradients = new LinkedHashMap<>();
            computed.forEach((parameter, gradient) -> gradients.put(parameter, Views.contiguous(gradient)));
            gradients.values().forEach(this::check);
            Map<Parameter, StiefelStep> turns = new LinkedHashMap<>();
            forEach(
                    groups,
                    gradients,
                    Role.STIEFEL::equals,
                    (parameter, gradient, group) -> turns.put(parameter, turn(parameter, gradient, group)));
            cells.count();
            forEach(groups, gradients, role -> role != Role.STIEFEL, this::move);
            turns.forEach((parameter, turn) -> {
                takeOver(parameter.value(), turn.point());
                if (turn.velocity() != null) {
                    takeOver(velocity(parameter), turn.velocity());
                }
            });
        }
    }

    /** Something to do with a parameter that has a gradient. */
    private interface Deed {
        void on(Parameter parameter, Tensor gradient, ParameterGroup group);
    }

    private static void forEach(
            List<ParameterGroup> groups, Map<Parameter, Tensor> gradients, Predicate<Role> roles, Deed deed) {
        for (ParameterGroup group : groups) {
            for (Parameter parameter : group.parameters().all()) {
                Tensor gradient = gradients.get(parameter);
                if (gradient != null && roles.test(parameter.spec().role())) {
                    deed.on(parameter, gradient, group);
                }
            }
        }
    }

    private void check(Tensor gradient) {
        long count = gradient.shape().elements();
        StepCells.PROGRAM.launch("check", Grid.over(count, BLOCKS), gradient, cells.tensor(), count);
    }

    private void move(Parameter parameter, Tensor gradient, ParameterGroup group) {
        SgdOptions options = sgd.options();
        double decay = parameter.spec().role() == Role.WEIGHT ? options.weightDecay() * group.decay() : 0;
        long count = gradient.shape().elements();
        StepCells.PROGRAM.launch(
                "move",
                Grid.over(count, BLOCKS),
                parameter.value(),
                velocity(parameter),
                gradient,
                cells.tensor(),
                count,
                (float) group.rate(),
                (float) options.momentum(),
                (float) decay);
    }

    /** As {@link StiefelStep}, but for the rate, which the cells know, and the retraction. */
    private StiefelStep turn(Parameter parameter, Tensor gradient, ParameterGroup group) {
        StiefelOptions options = sgd.options().stiefel();
        boolean constant = options.constantRate().isPresent();
        double momentum = constant ? 0 : sgd.options().momentum();
        Tensor w = parameter.value();
        Tensor direction = Stiefel.gradient(w, gradient, options.metric());
        if (momentum != 0) {
            direction = Elementwise.addScaled(direction, Stiefel.project(w, velocity(parameter)), momentum);
        }
        double factor = constant ? -options.constantRate().getAsDouble() : -group.rate() * options.multiplier();
        Tensor start = Tensors.empty(w.shape(), w);
        long count = w.shape().elements();
        StepCells.PROGRAM.launch(
                "along",
                Grid.over(count, BLOCKS),
                w,
                direction,
                cells.tensor(),
                start,
                count,
                (float) factor,
                constant ? 1 : 0);
        Libtorch.load().exactly(() -> orthonormalize(start));
        return new StiefelStep(start, momentum == 0 ? null : direction);
    }

    /** In place. */
    private void orthonormalize(Tensor q) {
        int columns = Math.toIntExact(q.size(1));
        for (int i = 0; i < ITERATIONS; i++) {
            Tensor error = Products.matmul(Views.transpose(q), q);
            StepCells.PROGRAM.launch(
                    "upper_error", new Grid(Math.ceilDiv(columns, 256), columns, 1, 256, 1), error, columns);
            if (i == ITERATIONS - 1) {
                long count = error.shape().elements();
                StepCells.PROGRAM.launch(
                        "check_bound", Grid.over(count, BLOCKS), error, cells.tensor(), count, LARGEST_CORRECTION);
            }
            q.copyFrom(Elementwise.sub(q, Products.matmul(q, error)));
        }
    }

    private void takeOver(Tensor target, Tensor value) {
        long count = target.shape().elements();
        StepCells.PROGRAM.launch(
                "take_over", Grid.over(count, BLOCKS), target, Views.contiguous(value), cells.tensor(), count);
    }

    /** A parameter's velocity, which stays where it is from now on. */
    private Tensor velocity(Parameter parameter) {
        Tensor velocity = sgd.velocity(parameter);
        if (velocity == null) {
            Shape shape = parameter.spec().shape();
            velocity = Tensors.zeros(shape, DType.F32, parameter.value().device());
            sgd.setVelocity(parameter, velocity);
        }
        return velocity;
    }
}
