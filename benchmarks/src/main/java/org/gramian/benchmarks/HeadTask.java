package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Sgd;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;

/**
 * A training step of the paper's head: pooling, linear classifier, cross-entropy, SGD with momentum, Riemannian SGD on W.
 *
 * <p>The gradient of the features is computed too, as fine-tuning needs it.
 */
final class HeadTask implements Task {
    /** W moves fast enough that its step is more than rounding. */
    private static final SgdOptions OPTIONS =
            new SgdOptions(0.1, 0.9, 5e-4, new StiefelOptions(0.1, Stiefel.Metric.CANONICAL, Retraction.QR));

    private final Pooling pooling;
    private final ParameterSet parameters;
    private final Tensor features;
    private final Tensor targets;
    private final Sgd sgd = new Sgd(OPTIONS);

    HeadTask(TaskSpec spec) {
        int batch = spec.number("batch");
        int channels = spec.number("channels");
        int classes = spec.number("classes");
        int side = spec.number("side");
        Device device = spec.device();
        pooling = Pooling.parse("conv:%d/rbf/spd:%d/relu/triu/root/l2".formatted(channels, channels));
        parameters = ParameterSet.initialize(specs(channels, classes), new SplittableRandom(0), DType.F32, device);
        features = Pattern.uniform(Shape.of(batch, channels, side, side), 1, 1, device);
        long[] labels = LongStream.range(0, batch).map(i -> i % classes).toArray();
        targets = Tensors.to(Classification.oneHot(labels, classes, DType.F32), device);
    }

    private List<ParameterSpec> specs(int channels, int classes) {
        long length = pooling.descriptorSize(channels);
        List<ParameterSpec> specs = new ArrayList<>();
        for (ParameterSpec spec : pooling.parameters(channels)) {
            specs.add(new ParameterSpec(
                    spec.name(), spec.shape(), spec.role(), (_, shape, _) -> first(spec.name(), shape)));
        }
        specs.add(new ParameterSpec(
                "fc.weight", Shape.of(classes, length), Role.WEIGHT, (_, shape, _) -> first("fc.weight", shape)));
        specs.add(new ParameterSpec("fc.bias", Shape.of(classes), Role.BIAS, (_, shape, _) -> first("fc.bias", shape)));
        return specs;
    }

    /** First values of the parameters, as in {@code worker.py}. */
    private static Tensor first(String name, Shape shape) {
        return switch (name) {
            case "conv.weight" -> Pattern.uniform(shape, 2, Math.sqrt(6.0 / shape.at(1)), Device.CPU);
            case "conv.bias" -> Tensors.full(0.2, shape, DType.F32, Device.CPU);
            case "spd0.weight" -> Pattern.orthonormal(Math.toIntExact(shape.at(0)), 4);
            case "fc.weight" -> Pattern.uniform(shape, 3, 0.1, Device.CPU);
            case "fc.bias" -> Tensors.zeros(shape, DType.F32, Device.CPU);
            default -> throw new IllegalArgumentException("no parameter " + name + " is known");
        };
    }

    @Override
    public void run() {
        step(new LinkedHashMap<>());
    }

    /** One step; the gradients' norms are written down where the map holds the name already. */
    private double step(SequencedMap<String, Double> norms) {
        try (Tape tape = Tape.recording()) {
            SequencedMap<String, Var> variables = parameters.variables(tape);
            variables.put("features", tape.variable(features));
            Bindings bindings = Bindings.of(variables);
            Var descriptors = pooling.apply(bindings.get("features"), bindings);
            Var scores = Matrices.linear(descriptors, bindings.get("fc.weight"), bindings.get("fc.bias"));
            Var loss = Classification.crossEntropy(scores, targets);
            try (Gradients gradients = tape.backward(loss)) {
                norms.replaceAll((name, _) -> Norm.of(gradients.of(bindings.get(name))));
                sgd.step(parameters, variables, gradients);
            }
            return loss.value().item();
        }
    }

    @Override
    public SequencedMap<String, Double> check() {
        SequencedMap<String, Double> norms = new LinkedHashMap<>();
        for (String name : List.of("features", "conv.weight", "conv.bias", "spd0.weight", "fc.weight", "fc.bias")) {
            norms.put(name, 0.0);
        }
        try (Scope _ = Scope.open()) {
            Tensor start = Tensors.copy(parameters.get("spd0.weight").value());
            SequencedMap<String, Double> values = new LinkedHashMap<>();
            values.put("loss", step(norms));
            norms.forEach((name, norm) -> values.put("|gradient of " + name + "|", norm));
            step(new LinkedHashMap<>());
            values.put("loss of step 3", step(new LinkedHashMap<>()));
            Tensor moved = Elementwise.sub(parameters.get("spd0.weight").value(), start);
            values.put("|way of spd0.weight in 3 steps|", Norm.of(moved));
            return values;
        }
    }

    @Override
    public void close() {
        sgd.close();
        parameters.close();
    }
}
