package org.gramian.autodiff;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
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
 *
 * @since 0.1
 */
public final class GradientCheck {
    /** Where rounding (about 1e-16/h) and truncation (about h⁴) of a well-scaled function are both below 1e-10. */
    private static final double STEP = 1e-5;

    /** Slopes of a smooth function over h and 2h agree to about h²; slopes that agree better than this are accepted. */
    private static final double AGREEMENT = 1e-7;

    private static final int ATTEMPTS = 4;
    private static final double SHRINKING = 8;

    private final Function<List<Var>, Var> function;
    private final Function<List<Var>, Var> reference;
    private final UnaryOperator<Tensor> upstream;
    private final double step;
    private final int mostElements;

    private GradientCheck(
            Function<List<Var>, Var> function,
            Function<List<Var>, Var> reference,
            UnaryOperator<Tensor> upstream,
            double step,
            int mostElements) {
        this.function = function;
        this.reference = reference;
        this.upstream = upstream;
        this.step = step;
        this.mostElements = mostElements;
    }

    /**
     * Result for one input.
     *
     * @param input index of the input
     * @param error largest deviation relative to the largest magnitude of the gradient
     * @param element row-major index of that deviation
     * @param expected gradient by central differences
     * @param found gradient by the tape
     */
    public record Deviation(int input, double error, long element, double expected, double found) {}

    /** Results for all inputs. */
    public record Report(List<Deviation> deviations) {
        /** Returns the largest error of all inputs; NaN if any is NaN. */
        public double worst() {
            return deviations.stream().mapToDouble(Deviation::error).reduce(0, Math::max);
        }
    }

    /** Returns a check of a function with a Gaussian upstream gradient of a fixed seed. */
    public static GradientCheck of(Function<List<Var>, Var> function) {
        return new GradientCheck(
                function,
                function,
                y -> Tensors.gaussian(new SplittableRandom(17), y.shape(), DType.F64),
                STEP,
                Integer.MAX_VALUE);
    }

    /** Returns this check with another upstream gradient, chosen for the result. */
    public GradientCheck withUpstream(UnaryOperator<Tensor> choice) {
        return new GradientCheck(function, reference, choice, step, mostElements);
    }

    /**
     * Returns this check with the differences of another function, for a function that treats a part of itself as
     * constant in the backward pass: the other function holds that part fixed.
     */
    public GradientCheck withReference(Function<List<Var>, Var> frozen) {
        return new GradientCheck(function, frozen, upstream, step, mostElements);
    }

    /** Returns this check with another step, for functions with strong curvature within 1e-5. */
    public GradientCheck withStep(double h) {
        return new GradientCheck(function, reference, upstream, h, mostElements);
    }

    /** Returns this check for at most the given number of random elements of each input, with a fixed seed. */
    public GradientCheck withAtMost(int elements) {
        return new GradientCheck(function, reference, upstream, step, elements);
    }

    /**
     * Checks the gradients of all inputs.
     *
     * @param inputs float64 tensors of one device
     */
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
                point.add(input.to(Device.CPU).contiguous().copy()); // a contiguous copy that may be modified
                variables.add(tape.variable(input));
            }
            Var result = function.apply(variables);
            Tensor g = upstream.apply(result.value()).to(result.value().device());
            List<Deviation> deviations = new ArrayList<>();
            try (Gradients gradients =
                    result.wantsGradient() ? tape.backward(result, g) : new Gradients(new HashMap<>())) {
                for (int i = 0; i < inputs.length; i++) {
                    double[] found = gradients.has(variables.get(i))
                            ? gradients.of(variables.get(i)).toDoubles()
                            : new double[(int) inputs[i].shape().elements()];
                    deviations.add(compare(point, i, g, found));
                }
            }
            return new Report(deviations);
        }
    }

    private Deviation compare(List<Tensor> point, int input, Tensor g, double[] found) {
        double scale = Double.MIN_NORMAL;
        for (int k = 0; k < found.length; k++) {
            if (!Double.isFinite(found[k])) {
                return new Deviation(input, Double.NaN, k, difference(point, input, k, g), found[k]);
            }
            scale = Math.max(scale, Math.abs(found[k]));
        }
        Deviation worst = new Deviation(input, 0, 0, found[0], found[0]);
        for (int k : elements(found.length)) {
            double expected = difference(point, input, k, g);
            double error = Math.abs(found[k] - expected) / Math.max(scale, Math.abs(expected));
            if (Double.isNaN(error)) {
                return new Deviation(input, error, k, expected, found[k]);
            }
            if (error > worst.error()) {
                worst = new Deviation(input, error, k, expected, found[k]);
            }
        }
        return worst;
    }

    private int[] elements(int count) {
        return count <= mostElements
                ? IntStream.range(0, count).toArray()
                : new SplittableRandom(count)
                        .ints(0, count)
                        .distinct()
                        .limit(mostElements)
                        .toArray();
    }

    /**
     * Computes the derivative of {@code ⟨g, f⟩} with respect to one element. If the slopes over h and 2h disagree, as
     * across a kink, smaller steps are tried and the best agreement is used.
     */
    private double difference(List<Tensor> point, int input, int element, Tensor g) {
        MemorySegment data = point.get(input).data();
        double x = data.getAtIndex(JAVA_DOUBLE, element);
        DoubleUnaryOperator along = value -> {
            data.setAtIndex(JAVA_DOUBLE, element, value);
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Var result = reference.apply(point.stream()
                        .map(each -> tape.constant(each.to(g.device())))
                        .toList());
                return g.mul(result.value()).sum().item();
            }
        };
        double best = Double.NaN;
        double smallest = Double.POSITIVE_INFINITY;
        double h = step * Math.max(1, Math.abs(x));
        for (int attempt = 0; attempt < ATTEMPTS && !(smallest <= AGREEMENT * Math.abs(best)); attempt++) {
            double near = (along.applyAsDouble(x + h) - along.applyAsDouble(x - h)) / (2 * h);
            double far = (along.applyAsDouble(x + 2 * h) - along.applyAsDouble(x - 2 * h)) / (4 * h);
            if (Math.abs(near - far) < smallest) {
                smallest = Math.abs(near - far);
                best = (4 * near - far) / 3;
            }
            h /= SHRINKING;
        }
        data.setAtIndex(JAVA_DOUBLE, element, x);
        return best;
    }
}
