package org.gramian.pooling;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** A pooling with parameters, fitted where it needs to be, ready to be applied to small features. */
final class PoolingTrial implements AutoCloseable {
    static final int CHANNELS = 7;
    static final Shape FEATURES = Shape.of(3, CHANNELS, 4, 5);

    final Pooling pooling;
    final ParameterSet parameters;

    private PoolingTrial(Pooling pooling, DType type) {
        this.pooling = pooling;
        this.parameters = pooling.initialize(CHANNELS, new SplittableRandom(23), type, Device.CPU);
    }

    /** In double precision, fitted to the features of seed 99. */
    static PoolingTrial of(Pooling pooling) {
        PoolingTrial trial = new PoolingTrial(pooling, DType.F64);
        try (Tensor features = features(99)) {
            Fitting.fit(pooling, features, trial.parameters, new SplittableRandom(7));
        }
        return trial;
    }

    static PoolingTrial of(String text) {
        return of(Pooling.parse(text));
    }

    /** The same parameters in single precision. */
    PoolingTrial inSinglePrecision() {
        PoolingTrial single = new PoolingTrial(pooling, DType.F32);
        Map<String, Tensor> values = new LinkedHashMap<>();
        for (Parameter parameter : parameters.all()) {
            values.put(parameter.name(), parameter.value());
        }
        single.parameters.assign(values);
        return single;
    }

    static Tensor features(long seed) {
        return Tensors.gaussian(new SplittableRandom(seed), FEATURES, DType.F64);
    }

    /** Descriptors, owned by the scope around. */
    Tensor describe(Tensor features) {
        try (Tape tape = Tape.inference()) {
            Var descriptors = pooling.apply(tape.constant(features), Bindings.of(parameters.variables(tape)));
            return descriptors.value().copy();
        }
    }

    /** The gradients, for a Gaussian upstream, of the features and of every trained parameter by name. */
    Map<String, Tensor> gradients(Tensor features) {
        try (Tape tape = Tape.recording()) {
            Map<String, Var> variables = parameters.variables(tape);
            Var x = tape.variable(features);
            Var y = pooling.apply(x, Bindings.of(variables));
            Tensor upstream = Tensors.gaussian(
                    new SplittableRandom(5), y.shape(), y.value().type());
            Map<String, Tensor> found = new LinkedHashMap<>();
            try (Gradients gradients = tape.backward(y, upstream)) {
                found.put("features", gradients.of(x).copy());
                variables.forEach((name, variable) -> {
                    if (gradients.has(variable)) {
                        found.put(name, gradients.of(variable).copy());
                    }
                });
            }
            return found;
        }
    }

    @Override
    public void close() {
        parameters.close();
    }
}
