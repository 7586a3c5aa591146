package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.accelerate.Equivalence.evaluate;
import static org.gramian.accelerate.Equivalence.on;
import static org.gramian.accelerate.Equivalence.requireClose;
import static org.gramian.accelerate.Equivalence.requireRounded;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.accelerate.FusedConvolution.Epilogue;
import org.gramian.accelerate.FusedConvolution.Filters;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.ConvolutionKernel;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Branches;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Pool;
import org.gramian.backbone.network.NetworkLayer.Residual;
import org.gramian.backbone.network.NetworkLayer.SqueezeExcitation;
import org.gramian.backbone.network.NetworkLayer.TopDown;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class FusedConvolutionTest {
    private static final double EPSILON = 1e-3;
    private static final Window POOL = Window.of(3, 2).padded(1, 1);
    private static final List<Activation> CLAMPS = List.of(Activation.NONE, Activation.RELU, Activation.RELU6);

    /** Maps, residual, filters, scale, offset, mean and variance of a 3×3 convolution that keeps the size. */
    private static List<Tensor> inputs(SplittableRandom random, int channels, int filters) {
        List<Tensor> inputs = new ArrayList<>();
        for (Shape shape : List.of(
                Shape.of(2, channels, 5, 6),
                Shape.of(2, filters, 5, 6),
                Shape.of(filters, channels, 3, 3),
                Shape.of(filters),
                Shape.of(filters),
                Shape.of(filters))) {
            inputs.add(Tensors.gaussian(random, shape, DType.F64));
        }
        inputs.add(Tensors.uniform(random, 0.1, 2, Shape.of(filters), DType.F64));
        return inputs;
    }

    private record Case(
            Activation activation,
            boolean residual,
            @Nullable Window pool) {
        Var fused(List<Var> in) {
            FixedNorm norm = new FixedNorm(
                    in.get(3), in.get(4), in.get(5).value(), in.get(6).value(), EPSILON);
            return FusedConvolution.apply(
                    in.get(0),
                    new Filters(in.get(2), null, norm),
                    new Convolution(1, 1, 1),
                    new Epilogue(residual ? in.get(1) : null, activation, pool));
        }

        Var plain(List<Var> in) {
            Var sums = FeatureMaps.convolve(in.get(0), in.get(2), null, new Convolution(1, 1, 1));
            BatchNorm.Statistics running =
                    new BatchNorm.Statistics(in.get(5).value(), in.get(6).value());
            Var normal = new BatchNorm(EPSILON, 0.1).predict(sums, in.get(3), in.get(4), running);
            Var y = (residual ? normal.add(in.get(1)) : normal).activate(activation);
            return pool == null ? y : FeatureMaps.maxPool(y, pool);
        }
    }

    @RandomTest(times = 24)
    void oneNodeEqualsPlainLayers(Seed seed) {
        SplittableRandom random = seed.random();
        Activation activation = Activation.values()[random.nextInt(Activation.values().length)];
        boolean alone = activation.needsInput();
        Case each = new Case(activation, !alone && random.nextBoolean(), !alone && random.nextBoolean() ? POOL : null);
        boolean[] wanted = new boolean[7]; // mean and variance are fixed
        for (int i = 0; i < 5; i++) {
            wanted[i] = random.nextInt(3) > 0;
        }
        wanted[List.of(0, 2, 3, 4).get(random.nextInt(4))] = true; // the residual may not be used
        List<Tensor> inputs = inputs(random, 2, 3);
        requireClose(
                evaluate(each::fused, inputs, wanted), evaluate(each::plain, inputs, wanted), 1e-12, each.toString());
    }

    @RandomTest(times = 3)
    void gradientsAreCentralDifferences(Seed seed) {
        List<Tensor> all = inputs(seed.random(), 2, 3);
        for (Activation activation : List.of(Activation.NONE, Activation.SIGMOID, Activation.SILU)) {
            Case each = new Case(activation, !activation.needsInput(), null);
            GradientCheck check = GradientCheck.of(in -> {
                List<Var> inputs = new ArrayList<>(in);
                all.subList(5, 7)
                        .forEach(fixed -> inputs.add(in.getFirst().tape().constant(fixed)));
                return each.fused(inputs);
            });
            assertThat(check.check(all.subList(0, 5).toArray(Tensor[]::new)).worst())
                    .isLessThan(1e-6);
        }
    }

    /** bfloat16 rounds maps, filters and gradients to 8 bits. */
    @RandomTest(times = 12)
    void gpuKernelsEqualPlainLayers(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        Case each = new Case(CLAMPS.get(random.nextInt(3)), random.nextBoolean(), random.nextBoolean() ? POOL : null);
        boolean[] wanted = {true, each.residual, true, true, true, false, false};
        List<Tensor> inputs = inputs(random, 8, 16);
        List<Tensor> expected = evaluate(each::plain, on(gpu, DType.F32, 2, DType.F32, inputs), wanted);
        requireClose(
                evaluate(each::fused, on(gpu, DType.F32, 2, DType.F32, inputs), wanted), expected, 1e-4, "float32");
        List<Tensor> mixed = on(gpu, DType.BF16, 2, DType.F32, inputs);
        List<Tensor> found = evaluate(each::fused, mixed, wanted);
        requireClose(found, expected, 0.1, "bfloat16, " + each);
        List<Tensor> again = evaluate(each::fused, mixed, wanted);
        requireClose(again.subList(0, 1), found.subList(0, 1), 1e-12, "again");
    }

    /** Small integers, of which all sums are exact, so that only the last rounding remains. */
    @RandomTest(times = 20)
    void gpuKernelsAreExactForSmallIntegers(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        long channels = 1L + random.nextInt(9);
        long filters = 8L * (1 + random.nextInt(9));
        boolean residual = random.nextBoolean();
        Window pool = random.nextBoolean() ? POOL : null;
        Activation activation = CLAMPS.get(random.nextInt(3));
        long images = 1L + random.nextInt(3);
        List<Tensor> inputs = new ArrayList<>();
        for (Shape shape : List.of(
                Shape.of(images, channels, 7, 5),
                Shape.of(images, filters, 7, 5),
                Shape.of(filters, channels, 1, 1),
                Shape.of(filters))) {
            inputs.add(SmallIntegers.draw(random, shape));
        }
        Function<List<Var>, Var> plain = in -> {
            Var sums = FeatureMaps.convolve(in.get(0), in.get(2), in.get(3), Convolution.plain());
            Var y = (residual ? sums.add(in.get(1)) : sums).activate(activation);
            return pool == null ? y : FeatureMaps.maxPool(y, pool);
        };
        Function<List<Var>, Var> fused = in -> FusedConvolution.apply(
                in.get(0),
                new Filters(in.get(2), in.get(3), null),
                Convolution.plain(),
                new Epilogue(residual ? in.get(1) : null, activation, pool));
        boolean[] wanted = {true, residual, true, true};
        List<Tensor> expected = evaluate(plain, inputs, wanted);
        List<Tensor> found = evaluate(fused, on(gpu, DType.BF16, 2, DType.F32, inputs), wanted);
        if (pool != null) { // integers have equal maxima, of which any may get the gradient
            requireRounded(found.getFirst(), expected.getFirst(), activation + ", pool " + pool);
            return;
        }
        for (int i = 0; i < found.size() - 1; i++) {
            requireRounded(found.get(i), expected.get(i), activation + ", " + i);
        }
        assertThat(found.getLast().toDoubles())
                .as("gradient of the bias")
                .containsExactly(expected.getLast().toDoubles());
    }

    private static Conv conv(String name, int channels, int size, Activation activation) {
        Conv.Finish finish = new Conv.Finish(name + ".bn", EPSILON, activation);
        return new Conv(name, channels, new ConvolutionKernel(size, 1, ConvolutionKernel.Border.HALF, false), finish);
    }

    /** Every pattern that is rewritten. */
    private static List<NetworkLayer> network() {
        Chain body = Chain.of("body", conv("a", 4, 1, Activation.RELU6), conv("b", 4, 3, Activation.NONE));
        Chain gated = Chain.of(
                "gated",
                SqueezeExcitation.of("se", 4, 2, Activation.SILU, Activation.SIGMOID),
                conv("c", 4, 3, Activation.SILU));
        Chain coarse = Chain.of("coarse", Conv.of("d", 4, 3).stride(2));
        return List.of(
                conv("stem", 4, 3, Activation.RELU),
                Pool.max("pool", 2, 2),
                new Residual("first", body, Chain.of("identity"), Activation.RELU),
                new Residual("second", gated, Chain.of("shortcut", conv("s", 4, 1, Activation.NONE)), Activation.NONE),
                Branches.of("branches", Conv.of("e", 2, 1), Chain.of("f", Conv.of("g", 2, 3))),
                new TopDown("down", coarse, Activation.RELU),
                conv("last", 3, 1, Activation.HARD_SWISH));
    }

    private static Function<List<Var>, Var> apply(
            List<NetworkLayer> layers, List<ParameterSpec> specs, boolean training) {
        return in -> {
            Map<String, Var> bound = new LinkedHashMap<>();
            for (int i = 0; i < specs.size(); i++) {
                bound.put(specs.get(i).name(), in.get(i + 1));
            }
            Bindings bindings = training ? Bindings.ofTraining(bound) : Bindings.of(bound);
            return new Chain("all", layers).apply(in.getFirst(), bindings);
        };
    }

    @RandomTest(times = 3)
    void rewrittenNetworkEqualsPlainOne(Seed seed) {
        SplittableRandom random = seed.random();
        List<NetworkLayer> plain = network();
        List<NetworkLayer> fused = Acceleration.rewriteAll(plain, _ -> false);
        assertThat(fused).hasSize(plain.size() - 1);
        assertThat(fused.getFirst().name()).isEqualTo("pool");
        List<ParameterSpec> specs = new Chain("all", plain).parameters(3);
        assertThat(new Chain("all", fused).parameters(3))
                .extracting(ParameterSpec::name)
                .isEqualTo(specs.stream().map(ParameterSpec::name).toList());
        for (boolean training : new boolean[] {false, true}) {
            List<Tensor> inputs = new ArrayList<>(List.of(Tensors.gaussian(random, Shape.of(2, 3, 12, 12), DType.F64)));
            specs.forEach(spec -> inputs.add(
                    spec.name().endsWith("running_var")
                            ? Tensors.uniform(random, 0.5, 2, spec.shape(), DType.F64)
                            : Tensors.gaussian(random, spec.shape(), DType.F64)));
            boolean[] wanted = new boolean[inputs.size()];
            for (int i = 0; i < wanted.length; i++) {
                wanted[i] = i == 0 || !specs.get(i - 1).name().contains("running");
            }
            List<Tensor> copies = inputs.stream().map(Tensor::copy).toList(); // training moves the statistics
            requireClose(
                    evaluate(apply(fused, specs, training), inputs, wanted),
                    evaluate(apply(plain, specs, training), copies, wanted),
                    1e-10,
                    "training " + training);
        }
    }

    @Test
    void featureLayerIsNotFusedWithPooling() {
        List<NetworkLayer> plain = network();
        assertThat(Acceleration.rewriteAll(plain, layer -> layer.name().equals("stem")))
                .extracting(NetworkLayer::name)
                .isEqualTo(plain.stream().map(NetworkLayer::name).toList());
    }
}
