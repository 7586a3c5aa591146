package org.gramian.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The gradients of a pooling with respect to features and every trained parameter, against central differences.
 *
 * <p>{@code sigma=mean} is a constant on the way back by definition: differences are taken with each image's σ held at
 * its value. Stages that follow a formula other than the derivative, as {@code triu:gradient=printed}, are expected to
 * deviate, by exactly what is stated of them: each is compared by itself, and all of them together in every input.
 *
 * @param pooling what was checked
 * @param formulas one per stated deviation
 * @param inputs one per input: {@code features}, {@code conv.weight}, …
 */
public record PoolingCheck(Pooling pooling, List<GradientComparison> formulas, List<GradientComparison> inputs) {
    private static final int IMAGES = 2;

    public PoolingCheck {
        formulas = List.copyOf(formulas);
        inputs = List.copyOf(inputs);
    }

    /** Elements of each input that are checked: all would take hours, fewer of a large pooling take seconds. */
    private static int sample(Pooling pooling, Tensor features) {
        return Math.clamp(2_000_000 / pooling.descriptorSize(features.size(1)), 8, 100);
    }

    /** Checks a pooling on small random features whose number of channels and positions differ. */
    public static PoolingCheck of(Pooling pooling, Device device) {
        int channels = smallestChannels(pooling);
        int rows = Math.max(3, pooling.aggregation().leastSide());
        SplittableRandom random = new SplittableRandom(11);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(channels, random, DType.F64, device)) {
            Tensor gaussian = Tensors.gaussian(random, Shape.of(IMAGES, channels, rows, channels), DType.F64);
            Tensor features = Tensors.to(Elementwise.mul(gaussian, scale(pooling, channels)), device);
            Fitting.fit(pooling, features, parameters, random);
            List<GradientComparison> formulas = StatedFormula.of(pooling).stream()
                    .map(formula -> formula.compare(device))
                    .toList();
            StandIn exact = StandIn.exact(pooling, features, parameters);
            StandIn stated = formulas.isEmpty() ? exact : StandIn.stated(pooling, features, parameters);
            return new PoolingCheck(pooling, formulas, compare(exact, stated, parameters));
        }
    }

    /**
     * How large the features are, so that a fixed σ is no larger than the distances of maps: all K_ij near 1 would leave
     * differences nothing but rounding.
     */
    private static double scale(Pooling pooling, int channels) {
        return pooling.aggregation() instanceof SecondOrder second
                        && second.kernel() instanceof Rbf rbf
                        && rbf.sigma() instanceof Sigma.Fixed fixed
                ? Math.max(1, fixed.value() / Math.sqrt(6.0 * channels))
                : 1;
    }

    /** Enough channels for every stage. */
    private static int smallestChannels(Pooling pooling) {
        String last = "";
        for (int channels = 5; channels <= 4096; channels++) {
            try {
                pooling.descriptorSize(channels);
                return channels;
            } catch (IllegalArgumentException tooFew) {
                last = tooFew.getMessage(); // try one more
            }
        }
        throw new IllegalArgumentException("no number of channels up to 4096 fits " + pooling + ": " + last);
    }

    /** The gradients of a pooling at a point beside its derivative and beside that of another function. */
    static List<GradientComparison> compare(StandIn exact, StandIn stated, ParameterSet parameters) {
        List<String> names = new ArrayList<>(List.of("features"));
        List<Tensor> inputs = new ArrayList<>(List.of(exact.features()));
        Map<String, Tensor> fixed = new LinkedHashMap<>();
        for (Parameter parameter : parameters.all()) {
            if (parameter.spec().role() == Role.FITTED) {
                fixed.put(parameter.name(), parameter.value());
            } else {
                names.add(parameter.name());
                inputs.add(parameter.value());
            }
        }
        GradientCheck check = GradientCheck.of(x -> exact.pooling().apply(x.getFirst(), bind(x, names, fixed)))
                .withAtMost(sample(exact.pooling(), exact.features()));
        Tensor[] point = inputs.toArray(Tensor[]::new);
        GradientCheck.Report ofExact = check.withReference(x -> exact.apply(x.getFirst(), bind(x, names, fixed)))
                .check(point);
        GradientCheck.Report ofStated = stated == exact
                ? ofExact
                : check.withReference(x -> stated.apply(x.getFirst(), bind(x, names, fixed)))
                        .check(point);
        List<GradientComparison> comparisons = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            comparisons.add(new GradientComparison(
                    names.get(i),
                    ofExact.deviations().get(i).error(),
                    ofStated.deviations().get(i).error(),
                    LayerCheck.TOLERANCE));
        }
        return comparisons;
    }

    private static Bindings bind(List<Var> inputs, List<String> names, Map<String, Tensor> fixed) {
        Map<String, Var> variables = new LinkedHashMap<>();
        fixed.forEach(
                (name, value) -> variables.put(name, inputs.getFirst().tape().constant(value)));
        for (int i = 1; i < names.size(); i++) {
            variables.put(names.get(i), inputs.get(i));
        }
        return Bindings.of(variables);
    }

    /** The comparisons of the inputs with what is stated, as other self-checks give theirs. */
    List<CheckResult> outcomes() {
        return inputs.stream()
                .map(input -> new CheckResult(pooling + ": " + input.subject(), input.fromStated(), input.tolerance()))
                .toList();
    }

    /** Whether every gradient is what is stated of it: the derivative, or off by exactly the stated formulas. */
    public boolean passed() {
        return formulas.stream().allMatch(GradientComparison::passed)
                && inputs.stream().allMatch(GradientComparison::passed);
    }
}
