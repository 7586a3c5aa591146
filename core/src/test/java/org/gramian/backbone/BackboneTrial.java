package org.gramian.backbone;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** A backbone with random parameters, of which none has its neutral value. */
record BackboneTrial(Backbone backbone, ParameterSet parameters) implements AutoCloseable {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final long MAX_PARAMETERS = 40_000_000;

    /** A prime, so that the rows of a matrix differ. */
    private static final long PERIOD = 65_521;

    /** Networks with the layers of smaller ones of the list. */
    private static final Set<String> LARGER_SIBLINGS =
            Set.of("vgg19", "resnet50", "resnet50-v1", "convnext_small", "dinov2-vits14", "efficientnet_v2_s");

    /** Networks at their default layers: one of each kind, or under {@code ./verify --full} all but the largest. */
    static Stream<Backbone> backbones() {
        return Backbones.all().stream()
                .filter(backbone -> backbone.parameterCount() < MAX_PARAMETERS)
                .filter(backbone -> FULL || !LARGER_SIBLINGS.contains(backbone.name()));
    }

    static BackboneTrial of(Backbone backbone, DType type) {
        // He's factor is for ReLU: in forty blocks without it features would grow to 1e4, where gates flip by rounding
        double scale = backbone.name().equals("efficientnet_v2_s") ? Math.sqrt(0.5) : 1;
        List<ParameterSpec> specs = backbone.parameters().stream()
                .map(spec -> disturbed(spec, scale))
                .toList();
        return new BackboneTrial(backbone, ParameterSet.initialize(specs, new SplittableRandom(7), type, Device.CPU));
    }

    /** Draws numbers of the deviation that a shape has, which repeat in large tensors: millions of them take seconds. */
    private static Tensor periodic(Initializer initial, RandomGenerator random, Shape shape, DType type) {
        long row = shape.elements() / shape.at(0);
        long rows = PERIOD / row + 1;
        if (rows >= shape.at(0)) {
            return initial.make(random, shape, type);
        }
        long[] sizes = shape.sizes().clone();
        sizes[0] = rows;
        long times = shape.elements() / PERIOD + 1;
        return initial.make(random, Shape.of(sizes), type)
                .reshape(rows * row)
                .slice(0, 0, PERIOD)
                .reshape(1, PERIOD)
                .expand(times, PERIOD)
                .reshape(times * PERIOD)
                .slice(0, 0, shape.elements())
                .reshape(shape.sizes());
    }

    private static ParameterSpec disturbed(ParameterSpec spec, double scale) {
        Initializer disturbed = switch (spec.role()) {
            case WEIGHT ->
                (random, shape, type) ->
                        periodic(spec.initial(), random, shape, type).mul(scale);
            case STIEFEL -> spec.initial();
            case BIAS ->
                (random, shape, type) -> spec.initial()
                        .make(random, shape, type)
                        .add(Tensors.gaussian(random, shape, type).mul(0.1));
            case FITTED ->
                spec.name().endsWith("running_var")
                        ? (random, shape, type) -> Tensors.uniform(random, 0.5, 2, shape, type)
                        : spec.name().endsWith("running_mean")
                                ? (random, shape, type) ->
                                        Tensors.gaussian(random, shape, type).mul(0.1)
                                : spec.initial();
        };
        return new ParameterSpec(spec.name(), spec.shape(), spec.role(), disturbed);
    }

    /** All parameters as constants. */
    Bindings frozen(Tape tape) {
        return frozen(tape, Map.of());
    }

    /** All parameters as constants, except those given. */
    Bindings frozen(Tape tape, Map<String, Var> others) {
        Map<String, Var> bound = new LinkedHashMap<>();
        parameters.all().forEach(parameter -> bound.put(parameter.name(), tape.constant(parameter.value())));
        bound.putAll(others);
        return Bindings.of(bound);
    }

    /** The features of images, computed without a record. */
    Tensor features(Tensor images) {
        try (Tape tape = Tape.inference()) {
            return backbone.apply(tape.constant(images), frozen(tape)).value().copy();
        }
    }

    @Override
    public void close() {
        parameters.close();
    }
}
