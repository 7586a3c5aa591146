package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/**
 * Initial values of parameters, equal to those of {@code worker.py}.
 *
 * <p>Weights of the i-th convolution of a backbone are uniform in {@code ±√(6/inputs)} with the seed 10 + i, those of the
 * convolution of a head with the seed 2; W is the first columns of an orthonormal matrix; the weights of the classifier are
 * uniform in ±0.1. Other parameters keep their default initialization.
 */
final class InitialParameters {
    private static final int FIRST_SEED = 10;
    private static final int CONVOLUTION_SEED = 2;
    private static final int CLASSIFIER_SEED = 3;
    private static final int STIEFEL_SEED = 4;

    private InitialParameters() {}

    /** Returns the parameters of backbone and head; without a backbone, of a head for a number of channels. */
    static List<ParameterSpec> of(Optional<Backbone> backbone, Optional<Head> head, int channels) {
        List<ParameterSpec> all = new ArrayList<>();
        int seed = FIRST_SEED;
        for (ParameterSpec spec : backbone.map(Backbone::parameters).orElse(List.of())) {
            boolean filters = spec.role() == Role.WEIGHT && spec.shape().rank() == 4;
            all.add(filters ? with(spec, he(spec.shape(), seed++)) : spec);
        }
        long entering = backbone.map(Backbone::channels).orElse((long) channels);
        head.ifPresent(each -> each.parameters(entering).forEach(spec -> all.add(ofHead(spec))));
        return all;
    }

    private static ParameterSpec ofHead(ParameterSpec spec) {
        Shape shape = spec.shape();
        if (spec.role() == Role.STIEFEL && shape.rank() == 2) {
            return with(spec, (_, _, _) -> SyntheticValues.orthonormal(shape, STIEFEL_SEED));
        }
        return switch (spec.name()) {
            case "pooling.conv.weight" -> with(spec, he(shape, CONVOLUTION_SEED));
            case Head.CLASSIFIER + ".weight" -> with(spec, uniform(shape, CLASSIFIER_SEED, 0.1));
            default -> spec;
        };
    }

    private static ParameterSpec with(ParameterSpec spec, Initializer initial) {
        return new ParameterSpec(spec.name(), spec.shape(), spec.role(), initial);
    }

    private static Initializer he(Shape shape, int seed) {
        double inputs = (double) shape.elements() / shape.at(0);
        return uniform(shape, seed, Math.sqrt(6 / inputs));
    }

    private static Initializer uniform(Shape shape, int seed, double range) {
        return (_, _, type) -> {
            if (type != DType.F32) {
                throw new IllegalArgumentException("expected initial values in float32, found " + type);
            }
            return SyntheticValues.uniform(shape, seed, range, Device.CPU);
        };
    }
}
