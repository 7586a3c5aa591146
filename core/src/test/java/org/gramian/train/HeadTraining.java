package org.gramian.train;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** A pooling and a linear classifier on top, trained on given batches in single precision. */
final class HeadTraining implements AutoCloseable {
    static final String PAPER = "conv:6/rbf/spd:4/relu/triu/root/l2";

    private final Pooling pooling;
    private final ParameterSet parameters;
    private final Optimizer sgd;

    HeadTraining(String text, int channels, int classes, long seed) {
        pooling = Pooling.parse(text);
        long size = pooling.descriptorSize(channels);
        List<ParameterSpec> specs = new ArrayList<>(pooling.parameters(channels));
        specs.add(new ParameterSpec(
                "fc.weight",
                Shape.of(classes, size),
                Role.WEIGHT,
                (random, shape, type) -> Tensors.uniform(random, -0.1, 0.1, shape, type)));
        specs.add(new ParameterSpec(
                "fc.bias",
                Shape.of(classes),
                Role.BIAS,
                (random, shape, type) -> Tensors.zeros(shape, type, Device.CPU)));
        parameters = ParameterSet.initialize(specs, new SplittableRandom(seed), DType.F32, Device.CPU);
        sgd = new Optimizer(Sgd.defaults(1));
    }

    /** One step; the loss before it. */
    double step(Tensor features, Tensor targets) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Map<String, Var> variables = parameters.variables(tape);
            Var loss = Classification.crossEntropy(scores(tape.constant(features), variables), targets);
            double value = loss.value().item();
            try (Gradients gradients = tape.backward(loss)) {
                sgd.step(parameters, variables, gradients);
            }
            return value;
        }
    }

    /** Class scores, row by row. */
    double[] predict(Tensor features) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            return scores(tape.constant(features), parameters.variables(tape))
                    .value()
                    .toDoubles();
        }
    }

    private Var scores(Var features, Map<String, Var> variables) {
        Var descriptors = pooling.apply(features, Bindings.of(variables));
        return descriptors.linear(
                Objects.requireNonNull(variables.get("fc.weight")), Objects.requireNonNull(variables.get("fc.bias")));
    }

    @Override
    public void close() {
        sgd.close();
        parameters.close();
    }
}
