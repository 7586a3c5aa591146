package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.autodiff.network.Classification;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Convolution.Window.Pair;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Gradients of every differentiable function against central differences. */
@ExtendWith(Scoped.class)
class FunctionGradientsTest {
    private static final int ELEMENTS = Boolean.getBoolean("gramian.full") ? Integer.MAX_VALUE : 6;

    private final RandomGenerator random = new SplittableRandom(5);

    @Test
    void arithmetic() {
        Tensor a = gaussian(3, 4);
        Tensor row = gaussian(1, 4);
        Tensor positive = gaussian(3, 4).abs().add(0.5);
        check("add", x -> x.get(0).add(x.get(1)), a, row);
        check("sub", x -> x.get(0).sub(x.get(1)), a, row);
        check("mul", x -> x.get(0).mul(x.get(1)), a, row);
        check("div", x -> x.get(0).div(x.get(1)), a, positive);
        check("exp", x -> x.getFirst().exp(), a);
        check("log", x -> x.getFirst().log(), positive);
        check("sqrt", x -> x.getFirst().sqrt(), positive);
        check("pow", x -> x.getFirst().pow(1.7), positive);
        check("relu", x -> x.getFirst().relu(), a);
        check("erf", x -> x.getFirst().erf(), a);
        check("tanh", x -> x.getFirst().tanh(), a);
        check("abs", x -> x.getFirst().abs(), a);
        check("clip", x -> x.getFirst().clip(-0.7, 0.6), a);
        check("leaky relu", x -> x.getFirst().leakyRelu(0.1), a);
        Tensor condition = a.greater(0);
        check("where", x -> Var.where(condition, x.get(0), x.get(1)), a, row);
        check("sum", x -> x.getFirst().sum(0), a);
        check("mean", x -> x.getFirst().mean(), a);
        check("reshape", x -> x.getFirst().reshape(2, 6), a);
        check("transpose", x -> x.getFirst().transpose(0, 1), a);
        check("slice", x -> x.getFirst().slice(1, 1, 3), a);
        check("concat", x -> Var.concat(x, 0), a, row);
        check("zeros before", x -> x.getFirst().zerosBefore(1, 2), a);
        check("padding", x -> x.getFirst().pad(1, 2, 1, 0.5), a);
        check("expand", x -> x.getFirst().reshape(3, 1, 4).expand(3, 2, 4), a);
        Tensor places = Tensors.ofLongs(new long[] {2, 0, 2}, Shape.of(3));
        check("select", x -> x.getFirst().select(0, places, false), a);
        Tensor distinct = Tensors.ofLongs(new long[] {2, 0}, Shape.of(2));
        check("select of distinct entries", x -> x.getFirst().select(1, distinct, true), a);
    }

    @Test
    void matrices() {
        check("matmul", x -> x.get(0).matmul(x.get(1)), gaussian(3, 4), gaussian(4, 2));
        check("bmm", x -> x.get(0).matmul(x.get(1)), gaussian(2, 3, 4), gaussian(2, 4, 5));
        check("matmul of a matrix and a batch", x -> x.get(0).matmul(x.get(1)), gaussian(3, 4), gaussian(2, 4, 5));
        check("matmul of a batch and a matrix", x -> x.get(0).matmul(x.get(1)), gaussian(2, 3, 4), gaussian(4, 5));
        check("linear", x -> x.get(0).linear(x.get(1), x.get(2)), gaussian(3, 4), gaussian(2, 4), gaussian(2));
    }

    @Test
    void maps() {
        Tensor maps = gaussian(2, 4, 5, 6);
        Convolution strided = new Convolution(2, 1, 1);
        Convolution grouped = new Convolution(1, 1, 2);
        Function<Convolution, Function<List<Var>, Var>> convolve =
                geometry -> x -> FeatureMaps.convolve(x.get(0), x.get(1), x.get(2), geometry);
        check("conv2d", convolve.apply(strided), maps, gaussian(3, 4, 3, 3), gaussian(3));
        Convolution dilated = new Convolution(new Pair(1, 2), new Pair(2, 1), new Pair(2, 1), 2);
        check(
                "conv2d with dilation and unequal sides",
                convolve.apply(dilated),
                maps,
                gaussian(4, 2, 3, 2),
                gaussian(4));
        check("conv2d in groups", convolve.apply(grouped), maps, gaussian(4, 2, 3, 3), gaussian(4));
        for (Activation activation : Activation.values()) {
            String name = activation.name().toLowerCase(Locale.ROOT);
            check(name, x -> x.getFirst().mul(3).activate(activation), maps);
        }
        check(
                "conv2d without bias",
                x -> FeatureMaps.convolve(x.get(0), x.get(1), null, strided),
                maps,
                gaussian(3, 4, 3, 3));
        check("global average pooling", x -> FeatureMaps.globalAveragePool(x.getFirst()), maps);
        Window window = Window.of(3, 2).padded(1, 1);
        check("max pooling", x -> FeatureMaps.maxPool(x.getFirst(), window), maps);
        check(
                "max pooling, rounded up",
                x -> FeatureMaps.maxPool(x.getFirst(), Window.of(3, 2).roundedUp()),
                maps);
        check("average pooling", x -> FeatureMaps.averagePool(x.getFirst(), window), maps);
        ResponseNorm norm = new ResponseNorm(3, 0.5, 0.75, 1);
        check("local response norm", x -> FeatureMaps.localResponseNorm(x.getFirst(), norm), maps);
        BatchNorm batchNorm = BatchNorm.STANDARD;
        check(
                "batch norm, training",
                x -> batchNorm.train(x.get(0), x.get(1), x.get(2), statistics()),
                maps,
                gaussian(4),
                gaussian(4));
        check(
                "batch norm, predicting",
                x -> batchNorm.predict(x.get(0), x.get(1), x.get(2), statistics()),
                maps,
                gaussian(4),
                gaussian(4));
        check(
                "batch norm folded into conv2d",
                x -> {
                    BatchNorm.Folded folded = batchNorm.fold(x.get(1), x.get(2), x.get(3), statistics());
                    return FeatureMaps.convolve(x.get(0), folded.weight(), folded.bias(), grouped);
                },
                maps,
                gaussian(4, 2, 3, 3),
                gaussian(4),
                gaussian(4));
    }

    private BatchNorm.Statistics statistics() {
        return new BatchNorm.Statistics(
                Tensors.full(0.3, Shape.of(4), DType.F64, Device.CPU),
                Tensors.full(1.7, Shape.of(4), DType.F64, Device.CPU));
    }

    @Test
    void classification() {
        Tensor targets = Classification.oneHot(new long[] {1, 0, 4}, 5, DType.F64);
        check("softmax", x -> Classification.softmax(x.getFirst()), gaussian(3, 5));
        check("log-softmax", x -> Classification.logSoftmax(x.getFirst()), gaussian(3, 5));
        check("cross-entropy", x -> Classification.crossEntropy(x.getFirst(), targets), gaussian(3, 5));
    }

    private Tensor gaussian(long... sizes) {
        return Tensors.gaussian(random, Shape.of(sizes), DType.F64);
    }

    private static void check(String name, Function<List<Var>, Var> function, Tensor... inputs) {
        GradientCheck.Report report =
                GradientCheck.of(function).withAtMost(ELEMENTS).check(inputs);
        assertThat(report.worst()).as(name).isLessThanOrEqualTo(1e-6);
    }
}
