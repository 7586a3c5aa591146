package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.gramian.autodiff.Tape;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels agree with the element-wise loops of their definitions, also of repeated and dead maps. */
@ExtendWith(SingleThreaded.class)
class PaperDefinitionTest {
    private static final List<Shape> SHAPES =
            List.of(Shape.of(1, 3, 2), Shape.of(2, 5, 9), Shape.of(3, 8, 4), Shape.of(1, 17, 31), Shape.of(4, 2, 2));

    @ParameterizedTest
    @MethodSource("org.gramian.spd.KernelUnderTest#all")
    void kernelIsItsDefinitionForEveryImageOfBatch(KernelUnderTest kernel) {
        assertAgreement(kernel, DType.F64, 1e-12);
    }

    @ParameterizedTest
    @MethodSource("org.gramian.spd.KernelUnderTest#all")
    void kernelIsItsDefinitionInSinglePrecision(KernelUnderTest kernel) {
        assertAgreement(kernel, DType.F32, 1e-5);
    }

    private static void assertAgreement(KernelUnderTest kernel, DType type, double tolerance) {
        for (Shape shape : SHAPES) {
            for (Defect defect : Defect.values()) {
                long seed = shape.hashCode();
                try (Scope _ = Scope.open();
                        Tape tape = Tape.inference()) {
                    Tensor exact = SampleMatrices.maps(
                            SampleMatrices.random(seed), defect, shape.at(0), shape.at(1), shape.at(2));
                    Tensor maps = exact.to(type);
                    Tensor k = kernel.apply(List.of(tape.constant(maps))).value();
                    for (int image = 0; image < shape.at(0); image++) {
                        double[][] expected = kernel.definition().apply(SampleMatrices.rows(maps, image));
                        assertThat(RelativeError.of(
                                        SampleMatrices.flat(SampleMatrices.rows(k, image)),
                                        SampleMatrices.flat(expected)))
                                .as("%s of %s, %s, image %d, %s", kernel, maps, defect, image, seed)
                                .isLessThan(tolerance);
                    }
                }
            }
        }
    }
}
