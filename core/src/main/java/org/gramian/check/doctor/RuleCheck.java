package org.gramian.check.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.gramian.accelerate.Acceleration;
import org.gramian.accelerate.Rule;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Compares fused layers with the plain ones on a device: values and gradients of models that the rules of {@link Rule} rewrite.
 *
 * <p>Errors are norms of differences relative to the norm of the plain result: near a kink, rounding moves single elements of a
 * gradient.
 */
public final class RuleCheck {
    /** Rounding of float32, of products in float16, and of networks in bfloat16. */
    private static final double FLOAT32 = 1e-4;

    private static final double FLOAT16 = 1e-2;
    private static final double BFLOAT16 = 0.1;

    /** Deeper networks magnify the rounding of bfloat16 at kinks. */
    private static final int SECOND_LAYER = 1;

    private static final int CHANNELS = 64;
    private static final int PIXELS = 64;

    private RuleCheck() {}

    /** Returns one result for each model and tensor. */
    public static List<CheckResult> run(Device device) {
        boolean gpu = device.kind() == Device.Kind.CUDA;
        List<CheckResult> results = new ArrayList<>();
        // a smooth root: near 0 a steep one magnifies the rounding of gradients
        Pooling pooling = Pooling.parse("conv:256/rbf/spd:64/relu/triu/root:eps=0.01/l2");
        Layer fused = Acceleration.rewrite(pooling);
        results.addAll(compare(
                gpu ? Rule.GPU_DESCRIPTOR.toString() : Rule.CPU_DESCRIPTOR.toString(),
                gpu ? FLOAT16 : FLOAT32,
                () -> pooling.initialize(CHANNELS, new SplittableRandom(1), DType.F32, device),
                Tensors.uniform(new SplittableRandom(2), 0, 1, Shape.of(2, CHANNELS, 7, 7), DType.F32)
                        .to(device),
                pooling::apply,
                fused::apply));
        SequencedMap<String, String> networks = new LinkedHashMap<>();
        networks.put("squeezenet", "convolution, stem");
        if (gpu) {
            networks.put("efficientnet-lite4", "convolution, depthwise");
            networks.put("vit-s16", "tokens, attention");
        }
        networks.forEach((name, rules) -> results.addAll(network(rules, name, device)));
        return results;
    }

    private static List<CheckResult> network(String rules, String name, Device device) {
        boolean gpu = device.kind() == Device.Kind.CUDA;
        Backbone network = Backbone.of(name);
        Backbone plain = network.cutAt(network.layers().get(SECOND_LAYER));
        Backbone fused = Acceleration.rewrite(plain);
        int side = name.startsWith("vit") ? 224 : PIXELS;
        Tensor images = Tensors.gaussian(new SplittableRandom(3), Shape.of(2, 3, side, side), DType.F32)
                .to(device);
        return compare(
                rules + ", " + name,
                gpu ? BFLOAT16 : FLOAT32,
                () -> ParameterSet.initialize(plain.parameters(), new SplittableRandom(4), DType.F32, device),
                gpu ? images.to(DType.BF16) : images,
                plain::apply,
                fused::apply);
    }

    private static List<CheckResult> compare(
            String subject,
            double tolerance,
            Supplier<ParameterSet> initial,
            Tensor input,
            BiFunction<Var, Bindings, Var> plain,
            BiFunction<Var, Bindings, Var> fused) {
        Libtorch libtorch = Libtorch.load();
        try (Scope _ = Scope.open();
                ParameterSet parameters = initial.get()) {
            return libtorch.with(libtorch.math().withTf32(true), () -> {
                Map<String, Tensor> expected = computed(plain, input, parameters);
                Map<String, Tensor> found = computed(fused, input, parameters);
                List<CheckResult> results = new ArrayList<>();
                expected.forEach((name, value) ->
                        results.add(new CheckResult(subject + ": " + name, error(found.get(name), value), tolerance)));
                return results;
            });
        }
    }

    /** Returns the value and the gradients of the parameters, in float64 on the CPU. */
    private static Map<String, Tensor> computed(
            BiFunction<Var, Bindings, Var> function, Tensor input, ParameterSet parameters) {
        Map<String, Tensor> all = new LinkedHashMap<>();
        try (Tape tape = Tape.recording()) {
            SequencedMap<String, Var> variables = parameters.variables(tape);
            Var result = function.apply(tape.constant(input), Bindings.of(variables));
            Tensor value = result.value();
            all.put("value", exact(value));
            Tensor upstream = Tensors.gaussian(new SplittableRandom(5), value.shape(), DType.F32)
                    .to(value.type())
                    .to(value.device());
            try (Gradients gradients = tape.backward(result, upstream)) {
                variables.forEach((name, variable) -> {
                    if (gradients.has(variable)) {
                        all.put("gradient of " + name, exact(gradients.of(variable)));
                    }
                });
            }
        }
        return all;
    }

    private static Tensor exact(Tensor tensor) {
        return tensor.to(Device.CPU).to(DType.F64).copy();
    }

    private static double error(@Nullable Tensor found, Tensor expected) {
        if (found == null || !found.shape().equals(expected.shape())) {
            return Double.POSITIVE_INFINITY;
        }
        Tensor difference = found.sub(expected);
        double norm = Math.sqrt(expected.mul(expected).sum().item());
        double off = Math.sqrt(difference.mul(difference).sum().item());
        return norm == 0 ? off : off / norm;
    }
}
