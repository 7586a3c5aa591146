package org.gramian.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The gradients of a pooling with respect to features and every trained parameter, against central differences.
 *
 * <p>{@code sigma=mean} is a constant on the way back by definition: differences are taken with each image's σ held at
 * its value.
 *
 * @param pooling what was checked, as text
 * @param outcomes one per input: {@code features}, {@code conv.weight}, …
 */
public record PoolingCheck(String pooling, List<Outcome> outcomes) {
    private static final int IMAGES = 2;

    /** Elements of each input that are checked: all would take hours, fewer of a large pooling take seconds. */
    private static int sample(Pooling pooling, Tensor features) {
        return Math.clamp(2_000_000 / pooling.descriptorSize(features.size(1)), 8, 100);
    }

    /** Checks a pooling on small random features whose number of channels and positions differ. */
    public static PoolingCheck of(String text, Device device) {
        Pooling pooling = Pooling.parse(text);
        int channels = smallestChannels(pooling);
        SplittableRandom random = new SplittableRandom(11);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(channels, random, DType.F64, device)) {
            Tensor features =
                    Tensors.to(Tensors.gaussian(random, Shape.of(IMAGES, channels, 3, channels), DType.F64), device);
            Fitting.fit(pooling, features, parameters);
            return new PoolingCheck(text, check(pooling, features, parameters));
        }
    }

    /** Enough channels for every stage. */
    private static int smallestChannels(Pooling pooling) {
        for (int channels = 5; channels <= 4096; channels++) {
            try {
                pooling.descriptorSize(channels);
                return channels;
            } catch (IllegalArgumentException tooFew) {
                // try one more
            }
        }
        throw new IllegalArgumentException("no number of channels up to 4096 fits " + pooling);
    }

    private static List<Outcome> check(Pooling pooling, Tensor features, ParameterSet parameters) {
        List<String> names = new ArrayList<>(List.of("features"));
        List<Tensor> inputs = new ArrayList<>(List.of(features));
        Map<String, Tensor> fixed = new LinkedHashMap<>();
        for (Parameter parameter : parameters.all()) {
            if (parameter.spec().role() == Role.FITTED) {
                fixed.put(parameter.name(), parameter.value());
            } else {
                names.add(parameter.name());
                inputs.add(parameter.value());
            }
        }
        List<Pooling> held = meanSigma(pooling) ? withSigmaHeld(pooling, features, parameters) : List.of();
        GradientCheck.Report report = GradientCheck.of(x -> pooling.apply(x.getFirst(), bind(x, names, fixed)))
                .withReference(x -> reference(pooling, held, x.getFirst(), bind(x, names, fixed)))
                .withAtMost(sample(pooling, features))
                .check(inputs.toArray(Tensor[]::new));
        return report.deviations().stream()
                .map(d -> new Outcome(pooling + ": " + names.get(d.input()), d.error(), LayerCheck.TOLERANCE))
                .toList();
    }

    private static boolean meanSigma(Pooling pooling) {
        return pooling.aggregation() instanceof SecondOrder(Rbf(Sigma.Mean _, double _), var _, var _);
    }

    /** The pooling itself, or image by image the one with that image's σ held. */
    private static Var reference(Pooling pooling, List<Pooling> held, Var features, Bindings parameters) {
        if (held.isEmpty()) {
            return pooling.apply(features, parameters);
        }
        List<Var> descriptors = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            descriptors.add(held.get(i).apply(Shapes.slice(features, 0, i, i + 1), parameters));
        }
        return Shapes.concat(descriptors, 0);
    }

    private static List<Pooling> withSigmaHeld(Pooling pooling, Tensor features, ParameterSet parameters) {
        SecondOrder second = (SecondOrder) pooling.aggregation();
        List<Pooling> held = new ArrayList<>();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var maps = pooling.reduce(tape.constant(features), Bindings.of(parameters.variables(tape)));
            for (int i = 0; i < IMAGES; i++) {
                double sigma = Rbf.meanDistance(Views.slice(maps.value(), 0, i, i + 1));
                Rbf kernel = new Rbf(new Sigma.Fixed(sigma), second.kernel().jitter());
                SecondOrder aggregation = new SecondOrder(kernel, second.transforms(), second.vectorization());
                held.add(new Pooling(pooling.reductions(), aggregation, pooling.normalizations()));
            }
        }
        return held;
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

    /** The outcome of the largest error. */
    public Outcome worst() {
        return outcomes.stream().max(Comparator.comparingDouble(Outcome::error)).orElseThrow();
    }
}
