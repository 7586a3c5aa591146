package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tensor sketch and random Maclaurin promise: inner products, linearity, a draw that stays. */
@ExtendWith(Scoped.class)
class CompactBilinearTest {
    private static final int ROWS = 5;

    private static Vectorization parse(String word) {
        return ((SecondOrder) Pooling.parse("bilinear/" + word).aggregation()).vectorization();
    }

    private static ParameterSet draw(Vectorization vectorization, SplittableRandom random) {
        return ParameterSet.initialize(vectorization.parameters(ROWS), random, DType.F64, Device.CPU);
    }

    private static Tensor vectors(Vectorization vectorization, Tensor matrices, ParameterSet parameters) {
        try (Tape tape = Tape.inference()) {
            return vectorization
                    .apply(tape.constant(matrices), Bindings.of(parameters.variables(tape)))
                    .value()
                    .copy();
        }
    }

    /** The mean of ⟨v(x), v(y)⟩ over many draws, and its standard error. */
    private static double[] meanInnerProduct(Vectorization vectorization, Tensor outer, SplittableRandom random) {
        int draws = 500;
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < draws; i++) {
            try (Scope _ = Scope.open();
                    ParameterSet parameters = draw(vectorization, random)) {
                double[] v = vectors(vectorization, outer, parameters).toDoubles();
                double inner = 0;
                for (int k = 0; k < v.length / 2; k++) {
                    inner += v[k] * v[v.length / 2 + k];
                }
                sum += inner;
                squares += inner * inner;
            }
        }
        double mean = sum / draws;
        return new double[] {mean, Math.sqrt((squares / draws - mean * mean) / draws)};
    }

    @ParameterizedTest
    @ValueSource(strings = {"sketch:16", "maclaurin:16"})
    void expectedInnerProductIsSquareOfThatOfFeatures(String word) {
        SplittableRandom random = new SplittableRandom(8);
        for (int pair = 0; pair < 2; pair++) {
            Tensor x = neighbours(random);
            Tensor outer = x.matmul(x.transpose());
            double inner = x.slice(0, 0, 1).mul(x.slice(0, 1, 2)).sum().item();
            double[] found = meanInnerProduct(parse(word), outer, random);
            assertThat(found[0]).isCloseTo(inner * inner, within(5 * found[1]));
            assertThat(found[1]).as("a mean worth comparing").isLessThan(inner * inner / 10);
        }
    }

    /** Two vectors of length 1 that lie near each other, so that their inner product is far from 0. */
    private static Tensor neighbours(SplittableRandom random) {
        Tensor common = Tensors.gaussian(random, Shape.of(1, ROWS, 1), DType.F64);
        Tensor x = Tensors.gaussian(random, Shape.of(2, ROWS, 1), DType.F64).addScaled(common, 3);
        return x.div(x.mul(x).sum(1).sqrt());
    }

    @RandomTest(times = 5)
    void bothAreLinearInMatrix(Seed seed) {
        SplittableRandom random = seed.random();
        for (String word : new String[] {"sketch:7", "maclaurin:300"}) {
            Vectorization vectorization = parse(word);
            try (ParameterSet parameters = draw(vectorization, random)) {
                Tensor a = symmetric(random);
                Tensor b = symmetric(random);
                Tensor both = vectors(vectorization, a.addScaled(b, -2.5), parameters);
                Tensor one = vectors(vectorization, a, parameters);
                assertTensor(both).isCloseTo(one.addScaled(vectors(vectorization, b, parameters), -2.5), 1e-13);
            }
        }
    }

    private static Tensor symmetric(SplittableRandom random) {
        Tensor a = Tensors.gaussian(random, Shape.of(2, ROWS, ROWS), DType.F64);
        return a.add(a.transpose());
    }

    @Test
    void drawTravelsInParametersAndIsExactInSinglePrecision() {
        Vectorization sketch = parse("sketch:999999");
        Vectorization maclaurin = parse("maclaurin:20");
        for (Vectorization vectorization : new Vectorization[] {sketch, maclaurin}) {
            try (ParameterSet exact = draw(vectorization, new SplittableRandom(3));
                    ParameterSet single = ParameterSet.initialize(
                            vectorization.parameters(ROWS), new SplittableRandom(3), DType.F32, Device.CPU)) {
                exact.all()
                        .forEach(parameter -> assertThat(
                                        single.get(parameter.name()).value().toDoubles())
                                .containsExactly(parameter.value().toDoubles()));
            }
        }
    }
}
