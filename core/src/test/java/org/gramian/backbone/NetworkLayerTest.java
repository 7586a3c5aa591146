package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Dense;
import org.gramian.backbone.network.NetworkLayer.SqueezeExcitation;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;

/** Single stages against their definitions, in other words than theirs. */
@ExtendWith(Scoped.class)
class NetworkLayerTest {
    private static Map<String, Tensor> parameters(NetworkLayer stage, long channels, SplittableRandom random) {
        Map<String, Tensor> values = new HashMap<>();
        for (ParameterSpec spec : stage.parameters(channels)) {
            Tensor value = Tensors.gaussian(random, spec.shape(), DType.F64);
            values.put(spec.name(), spec.name().endsWith("running_var") ? value.mul(value) : value);
        }
        return values;
    }

    private static Tensor apply(NetworkLayer stage, Tensor maps, Map<String, Tensor> parameters) {
        try (Tape tape = Tape.inference()) {
            Map<String, Var> bound = new HashMap<>();
            parameters.forEach((name, value) -> bound.put(name, tape.constant(value)));
            Var result = stage.apply(tape.constant(maps), Bindings.of(bound));
            Shape one = Shape.of(maps.size(1), maps.size(2), maps.size(3));
            assertThat(result.shape()).isEqualTo(batch(maps.size(0), stage.output(one)));
            return result.value().copy();
        }
    }

    private static Shape batch(long images, Shape maps) {
        return Shape.of(images, maps.at(0), maps.at(1), maps.at(2));
    }

    private static Tensor parameter(Map<String, Tensor> parameters, String name) {
        assertThat(parameters).containsKey(name);
        return parameters.getOrDefault(name, Tensors.of(new double[0], Shape.of(0), DType.F64));
    }

    /** TensorFlow's rule: ⌈side/stride⌉ windows, half of the zeros they need before the maps, the odd one after. */
    @RandomTest(times = 30)
    void samePaddingIsTensorFlows(Seed seed) {
        SplittableRandom random = seed.random();
        int size = 1 + 2 * random.nextInt(3);
        int stride = 1 + random.nextInt(2);
        Tensor maps = Tensors.gaussian(random, Shape.of(2, 3, 1 + random.nextInt(9), 1 + random.nextInt(9)), DType.F64);
        Conv conv = Conv.of("c", 3, size)
                .stride(stride)
                .border(Border.SAME)
                .activation(Activation.RELU6)
                .depthwise();
        Map<String, Tensor> parameters = parameters(conv, 3, random);
        Grid x = Grid.of(maps);
        Grid w = Grid.of(parameter(parameters, "c.weight"));
        Grid b = Grid.of(parameter(parameters, "c.bias"));
        int top = before(maps.size(2), size, stride);
        int left = before(maps.size(3), size, stride);
        Shape outputs = Shape.of(2, 3, Math.ceilDiv(maps.size(2), stride), Math.ceilDiv(maps.size(3), stride));
        Grid expected = Grid.make(outputs, p -> {
            double sum = b.at(p[1]);
            for (int i = 0; i < size * size; i++) {
                int row = p[2] * stride - top + i / size;
                int column = p[3] * stride - left + i % size;
                sum += w.at(p[1], 0, i / size, i % size) * x.atOrZero(p[0], p[1], row, column);
            }
            return Math.min(6, Math.max(0, sum));
        });
        assertTensor(apply(conv, maps, parameters)).as("%s of %s", conv, maps).isCloseTo(expected, 1e-13);
    }

    private static int before(long side, int size, int stride) {
        long zeros = Math.max(0, (Math.ceilDiv(side, stride) - 1) * stride + size - side);
        return (int) zeros / 2;
    }

    /** A factor per channel from the channel means, through two matrices. */
    @RandomTest(times = 5)
    void squeezeAndExcitationScalesChannels(Seed seed) {
        SplittableRandom random = seed.random();
        NetworkLayer stage = SqueezeExcitation.of("se", 6, 2, Activation.RELU, Activation.HARD_SIGMOID);
        Map<String, Tensor> parameters = parameters(stage, 6, random);
        Tensor maps = Tensors.gaussian(random, Shape.of(3, 6, 4, 5), DType.F64);
        Grid x = Grid.of(maps);
        Grid means = Grid.make(Shape.of(3, 6), p -> {
            double sum = 0;
            for (int i = 0; i < 20; i++) {
                sum += x.at(p[0], p[1], i / 5, i % 5);
            }
            return sum / 20;
        });
        Grid squeezed = dense(parameters, "se.fc1", means, 6, 2);
        Grid rectified = Grid.make(Shape.of(3, 2), p -> Math.max(0, squeezed.at(p[0], p[1])));
        Grid excited = dense(parameters, "se.fc2", rectified, 2, 6);
        Grid expected = Grid.make(
                maps.shape(), p -> x.at(p[0], p[1], p[2], p[3]) * Math.clamp(excited.at(p[0], p[1]) + 3, 0.0, 6.0) / 6);
        assertTensor(apply(stage, maps, parameters)).isCloseTo(expected, 1e-13);
    }

    private static Grid dense(Map<String, Tensor> parameters, String name, Grid rows, int inputs, int outputs) {
        Grid w = Grid.of(parameter(parameters, name + ".weight"));
        Grid b = Grid.of(parameter(parameters, name + ".bias"));
        return Grid.make(Shape.of(3, outputs), p -> {
            double sum = b.at(p[1]);
            for (int i = 0; i < inputs; i++) {
                sum += w.at(p[1], i, 0, 0) * rows.at(p[0], i);
            }
            return sum;
        });
    }

    @RandomTest(times = 5)
    void aDenseLayerReadsWholeMaps(Seed seed) {
        SplittableRandom random = seed.random();
        Dense dense = new Dense("fc", 4, 3, Activation.RELU);
        Map<String, Tensor> parameters = parameters(dense, 2, random);
        Tensor maps = Tensors.gaussian(random, Shape.of(5, 2, 3, 3), DType.F64);
        Tensor sums = maps.reshape(5, 18)
                .matmul(parameter(parameters, "fc.weight").transpose())
                .add(parameter(parameters, "fc.bias"));
        assertTensor(apply(dense, maps, parameters)).isCloseTo(sums.relu().reshape(5, 4, 1, 1), 1e-13);
        assertThat(dense.output(Shape.of(2, 3, 4)).elements()).isZero();
    }
}
