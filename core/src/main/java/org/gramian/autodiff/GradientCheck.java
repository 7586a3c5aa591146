package org.gramian.autodiff;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Compares the gradients of a function with central differences in double precision.
 *
 * <p>For an upstream gradient g, the number {@code L = ⟨g, f(x)⟩} is differentiated twice: by the tape, and element by
 * element by the fourth-order central difference {@code [8(L(x+h) − L(x−h)) − (L(x+2h) − L(x−2h))] / 12h}. The error of
 * an input is the largest deviation over all its elements, relative to the largest magnitude of its gradient.
 *
 * <pre>{@code
 * GradientCheck.Report report = GradientCheck.of(x -> MyLayer.apply(x.get(0), x.get(1))).check(features, weights);
 * assert report.worst() < 1e-6;
 * }</pre>
 *
 * <p>Differences say nothing at a kink: keep inputs a few h away from them.
 */
public final class GradientCheck {
    /** Where rounding (about 1e-16/h) and truncation (about h⁴) of a well-scaled function are both below 1e-10. */
    private static final double STEP = 1e-5;

    private final Function<List<Var>, Var> function;
    private final Function<List<Var>, Var> reference;
    private final UpstreamChoice upstream;
    private final double step;

    private GradientCheck(
            Function<List<Var>, Var> function,
            Function<List<Var>, Var> reference,
            UpstreamChoice upstream,
            double step) {
        this.function = function;
        this.reference = reference;
        this.upstream = upstream;
        this.step = step;
    }

    /** Chooses the upstream gradient for a result. */
    @FunctionalInterface
    public interface UpstreamChoice {
        Tensor choose(Tensor result);
    }

    /**
     * The outcome for one input.
     *
     * @param input place of the input
     * @param error largest deviation relative to the largest magnitude of the gradient
     * @param element place of that deviation, row by row
     * @param expected gradient there by central differences
     * @param found gradient there by the tape
     */
    public record Deviation(int input, double error, long element, double expected, double found) {}

    /** The outcome for all inputs. */
    public record Report(List<Deviation> deviations) {
        /** The largest error over all inputs; NaN if any is. */
        public double worst() {
            return deviations.stream().mapToDouble(Deviation::error).reduce(0, Math::max);
        }
    }

    /** A check of a function from variables to a variable, with a Gaussian upstream gradient of a fixed seed. */
    public static GradientCheck of(Function<List<Var>, Var> function) {
        return new GradientCheck(
                function, function, y -> Tensors.gaussian(new SplittableRandom(17), y.shape(), DType.F64), STEP);
    }

    /** The same check with another upstream gradient. */
    public GradientCheck withUpstream(UpstreamChoice choice) {
        return new GradientCheck(function, reference, choice, step);
    }

    /**
     * The same check with the differences taken of another function, for one that treats part of itself as a constant on
     * the way back: the other is the same with that part held at its value.
     */
    public GradientCheck withReference(Function<List<Var>, Var> frozen) {
        return new GradientCheck(function, frozen, upstream, step);
    }

    /** The same check with another step of the differences, for functions that bend within 1e-5. */
    public GradientCheck withStep(double h) {
        return new GradientCheck(function, reference, upstream, h);
    }

    /** Checks the gradients of all inputs at a point given by double-precision tensors of one device. */
    public Report check(Tensor... inputs) {
        for (Tensor input : inputs) {
            if (input.type() != DType.F64) {
                throw new IllegalArgumentException("gradients are checked in F64, found " + input);
            }
        }
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            List<Tensor> point = new ArrayList<>();
            List<Var> variables = new ArrayList<>();
            for (Tensor input : inputs) {
                point.add(Tensors.copy(Tensors.to(input, Device.CPU))); // contiguous, and ours to move
                variables.add(tape.variable(input));
            }
            Var result = function.apply(variables);
            Tensor g =
                    Tensors.to(upstream.choose(result.value()), result.value().device());
            List<Deviation> deviations = new ArrayList<>();
            try (Gradients gradients = tape.backward(result, g)) {
                for (int i = 0; i < inputs.length; i++) {
                    double[] found = gradients.has(variables.get(i))
                            ? gradients.of(variables.get(i)).toDoubles()
                            : new double[(int) inputs[i].shape().elements()];
                    deviations.add(compare(i, found, differences(point, i, g)));
                }
            }
            return new Report(deviations);
        }
    }

    private static Deviation compare(int input, double[] found, double[] expected) {
        double scale = Double.MIN_NORMAL;
        int worst = 0;
        for (int k = 0; k < found.length; k++) {
            scale = Math.max(scale, Math.max(Math.abs(expected[k]), Math.abs(found[k])));
            double deviation = Math.abs(found[k] - expected[k]);
            if (!(deviation <= Math.abs(found[worst] - expected[worst]))) {
                worst = k;
            }
        }
        double error = Math.abs(found[worst] - expected[worst]) / scale;
        return new Deviation(input, error, worst, expected[worst], found[worst]);
    }

    private double[] differences(List<Tensor> point, int input, Tensor g) {
        MemorySegment data = point.get(input).data();
        double[] derivatives = new double[(int) point.get(input).shape().elements()];
        for (int k = 0; k < derivatives.length; k++) {
            double x = data.getAtIndex(JAVA_DOUBLE, k);
            double h = step * Math.max(1, Math.abs(x));
            int place = k;
            DoubleUnaryOperator along = value -> {
                data.setAtIndex(JAVA_DOUBLE, place, value);
                return product(point, g);
            };
            double near = along.applyAsDouble(x + h) - along.applyAsDouble(x - h);
            double far = along.applyAsDouble(x + 2 * h) - along.applyAsDouble(x - 2 * h);
            data.setAtIndex(JAVA_DOUBLE, k, x);
            derivatives[k] = (8 * near - far) / (12 * h);
        }
        return derivatives;
    }

    /** {@code ⟨g, f(point)⟩}. */
    private double product(List<Tensor> point, Tensor g) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Device device = g.device();
            Var result = reference.apply(point.stream()
                    .map(x -> tape.constant(Tensors.to(x, device)))
                    .toList());
            return Reductions.sum(Elementwise.mul(g, result.value())).item();
        }
    }
}
