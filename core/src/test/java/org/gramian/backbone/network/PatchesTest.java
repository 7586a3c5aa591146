package org.gramian.backbone.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;

class PatchesTest {
    private static Var patches(List<Var> v) {
        return new Patches("p", 5, 4).apply(v.get(0), Bindings.of(Map.of("p.weight", v.get(1), "p.bias", v.get(2))));
    }

    /** Rows and columns after the last whole patch are ignored. */
    @Test
    void productOfPatchesIsAConvolution() {
        SplittableRandom random = new SplittableRandom(3);
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            List<Tensor> inputs = List.of(
                    Tensors.gaussian(random, Shape.of(2, 3, 9, 14), DType.F64),
                    Tensors.gaussian(random, Shape.of(5, 3, 4, 4), DType.F64),
                    Tensors.gaussian(random, Shape.of(5), DType.F64));
            List<Var> v = inputs.stream().map(tape::constant).toList();
            Var convolved = FeatureMaps.convolve(v.get(0), v.get(1), v.get(2), new Convolution(4, 0, 1));
            assertTensor(patches(v).value()).isCloseTo(convolved.value(), 1e-12);
            assertThat(GradientCheck.of(PatchesTest::patches)
                            .check(inputs.toArray(Tensor[]::new))
                            .worst())
                    .isLessThan(1e-6);
        }
    }
}
