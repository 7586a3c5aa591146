package org.gramian.backbone.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.Test;

/** Convolution over patches as one matrix product. */
class PatchesTest {
    private static final Patches PATCHES = new Patches("p", 5, 4);

    private static Var product(List<Var> v) {
        return PATCHES.product(v.get(0), Bindings.of(Map.of("weight", v.get(1), "bias", v.get(2))));
    }

    private static Tensor value(Function<List<Var>, Var> function, List<Tensor> inputs) {
        try (Tape tape = Tape.inference()) {
            return function.apply(inputs.stream().map(tape::constant).toList())
                    .value()
                    .copy();
        }
    }

    /** Rows and columns after the last whole patch are ignored. */
    @Test
    void theProductIsTheConvolution() {
        SplittableRandom random = new SplittableRandom(3);
        try (Scope _ = Scope.open()) {
            List<Tensor> inputs = List.of(
                    Tensors.gaussian(random, Shape.of(2, 3, 9, 14), DType.F64),
                    Tensors.gaussian(random, Shape.of(5, 3, 4, 4), DType.F64),
                    Tensors.gaussian(random, Shape.of(5), DType.F64));
            Function<List<Var>, Var> convolution =
                    v -> PATCHES.apply(v.get(0), Bindings.of(Map.of("p.weight", v.get(1), "p.bias", v.get(2))));
            assertTensor(value(PatchesTest::product, inputs)).isCloseTo(value(convolution, inputs), 1e-12);
            assertThat(GradientCheck.of(PatchesTest::product)
                            .check(inputs.toArray(Tensor[]::new))
                            .worst())
                    .isLessThan(1e-6);
        }
    }

    @Test
    void bfloat16OnAGpuIsTheConvolution() {
        Device gpu = Gpu.required();
        SplittableRandom random = new SplittableRandom(4);
        try (Scope _ = Scope.open()) {
            List<Tensor> inputs = Stream.of(Shape.of(2, 3, 34, 52), Shape.of(8, 3, 16, 16), Shape.of(8))
                    .map(shape -> Tensors.gaussian(random, shape, DType.F64).to(DType.BF16))
                    .toList();
            Patches patches = new Patches("p", 8, 16);
            Function<List<Var>, Var> function =
                    v -> patches.apply(v.get(0), Bindings.of(Map.of("p.weight", v.get(1), "p.bias", v.get(2))));
            Tensor expected = value(
                    function, inputs.stream().map(each -> each.to(DType.F64)).toList());
            Tensor found =
                    value(function, inputs.stream().map(each -> each.to(gpu)).toList());
            assertThat(RelativeError.ofNorm(found.toDoubles(), expected.toDoubles()))
                    .isLessThan(1e-2);
        }
    }
}
