package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The matrix forms agree with the element-wise loops of the paper's definitions. */
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

    @RandomTest(times = 8)
    void transformationIsItsDefinition(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor k = SampleMatrices.positiveDefinite(random, 3, 6);
            Tensor w = SampleMatrices.gaussian(random, 6, 4);
            Tensor y = SpdTransform.apply(tape.constant(k), tape.constant(w)).value();
            for (int image = 0; image < 3; image++) {
                double[][] expected =
                        PaperDefinitionOracle.transform(SampleMatrices.rows(k, image), SampleMatrices.rows(w, 0));
                assertThat(RelativeError.of(
                                SampleMatrices.flat(SampleMatrices.rows(y, image)), SampleMatrices.flat(expected)))
                        .as("%s", seed)
                        .isLessThan(1e-13);
            }
        }
    }

    @RandomTest(times = 8)
    void pathOfPaperIsChainOfItsDefinitions(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor maps = SampleMatrices.maps(random, Defect.TWO_DEAD, 2, 7, 12);
            Tensor w = Stiefel.random(random, Shape.of(7, 4), DType.F64);
            Var features = tape.constant(maps.reshape(2, 7, 3, 4).copy());
            Bindings bindings = Bindings.of(Map.of("spd0.weight", tape.constant(w)));
            double[] found = Pooling.parse("rbf:jitter=0/spd:4/relu/triu/root/l2")
                    .apply(features, bindings)
                    .value()
                    .toDoubles();
            for (int image = 0; image < 2; image++) {
                double[][] m = SampleMatrices.rows(maps, image);
                double[][] k = PaperDefinitionOracle.rbf(m, PaperDefinitionOracle.meanDistance(m));
                double[][] y =
                        PaperDefinitionOracle.relu(PaperDefinitionOracle.transform(k, SampleMatrices.rows(w, 0)));
                double[] expected = PaperDefinitionOracle.l2(
                        PaperDefinitionOracle.root(PaperDefinitionOracle.upperTriangle(y), 1e-5));
                double[] one = Arrays.copyOfRange(found, image * 10, image * 10 + 10);
                assertThat(RelativeError.of(one, expected))
                        .as("image %d, %s", image, seed)
                        .isLessThan(1e-11);
            }
        }
    }

    @RandomTest(times = 4)
    void rootWithoutSmoothingIsSignedRoot(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor v = SampleMatrices.gaussian(random, 1, 5, 1, 2);
            double[] averages = Pooling.parse("average")
                    .apply(tape.constant(v), none())
                    .value()
                    .toDoubles();
            double[] found = Pooling.parse("average/root:eps=0")
                    .apply(tape.constant(v), none())
                    .value()
                    .toDoubles();
            assertThat(RelativeError.of(found, PaperDefinitionOracle.root(averages, 0)))
                    .as("%s", seed)
                    .isLessThan(1e-15);
        }
    }

    private static Bindings none() {
        return Bindings.of(Map.of());
    }
}
