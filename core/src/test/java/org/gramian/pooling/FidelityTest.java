package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FidelityTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "paper     | conv:512,bias=0/rbf:jitter=0,gradient=printed/spd:512/relu/triu:gradient=printed/root:eps=0/l2",
                "authors   | conv:512/rbf:sigma=50,jitter=0/spd:512,init=xavier/relu/triu/root:eps=0,gradient=authors/l2",
                "corrected | conv:512/rbf/spd:512/relu/triu/root/l2"
            })
    void poolingOfPaperSaysEveryDeviation(String fidelity, String text) {
        Fidelity chosen = Fidelity.valueOf(fidelity.toUpperCase(Locale.ROOT));
        assertThat(Pooling.parse("paper", chosen).text()).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "authors | rbf:sigma=mean/triu     | rbf:jitter=0/triu",
                "authors | rbf:3,jitter=1e-4/triu  | rbf:sigma=3/triu",
                "authors | rbf/triu/root:eps=1e-5  | rbf:sigma=50,jitter=0/triu/root:gradient=authors",
                "authors | rbf/spd:3,init=orthonormal/triu | rbf:sigma=50,jitter=0/spd:3/triu",
                "paper   | rbf:gradient=exact/triu | rbf:jitter=0/triu:gradient=printed",
                "paper   | rbf/triu:gradient=exact | rbf:jitter=0,gradient=printed/triu",
                "paper   | conv:4,bias=0.2/bilinear/flat/root:1e-5 | conv:4/bilinear/flat/root",
                "paper   | covariance/isqrt/flat   | covariance/isqrt:5/flat"
            })
    void whatIsWrittenWinsOverFidelity(String fidelity, String text, String meant) {
        assertThat(Pooling.parse(text, Fidelity.valueOf(fidelity.toUpperCase(Locale.ROOT)))
                        .text())
                .isEqualTo(meant);
    }

    @RandomTest(times = 200)
    void textUnderFidelityIsReadBackUnderIt(Seed seed) {
        Pooling pooling = Pooling.parse(PoolingParserTest.randomPooling(seed.random()));
        for (Fidelity fidelity : Fidelity.values()) {
            assertThat(Pooling.parse(fidelity.textOf(pooling), fidelity))
                    .as("%s: %s", fidelity, fidelity.textOf(pooling))
                    .isEqualTo(pooling);
        }
        assertThat(Fidelity.CORRECTED.textOf(pooling)).isEqualTo(pooling.text());
    }

    @Test
    void authorsHaveSquareMatricesOnly() {
        Pooling smaller = Pooling.parse("rbf/spd:4/triu", Fidelity.AUTHORS);
        assertRejected(() -> smaller.descriptorSize(7), "C' = C", "spd:7", "init=orthonormal");
        assertThat(smaller.descriptorSize(4)).isEqualTo(10);
        assertThat(Pooling.parse("rbf/spd:4/triu", Fidelity.PAPER).descriptorSize(7))
                .isEqualTo(10);
    }

    @Test
    void firstValuesAreThoseOfFidelity() {
        try (ParameterSet paper = initial(Fidelity.PAPER);
                ParameterSet authors = initial(Fidelity.AUTHORS);
                ParameterSet corrected = initial(Fidelity.CORRECTED)) {
            assertThat(values(paper, "conv.bias")).containsOnly(0);
            assertThat(values(authors, "conv.bias")).containsOnly(0.2);
            assertThat(values(corrected, "conv.bias")).containsOnly(0.2);
            assertThat(values(paper, "spd0.weight")).containsExactly(values(corrected, "spd0.weight"));
            assertThat(Stiefel.orthogonalityError(paper.get("spd0.weight").value()))
                    .isLessThan(1e-12);
            double bound = Math.sqrt(3.0 / 48);
            double[] w = values(authors, "spd0.weight");
            assertThat(Arrays.stream(w).map(Math::abs).max().orElseThrow()).isBetween(0.98 * bound, bound);
            assertThat(Arrays.stream(w).map(x -> x * x).sum() / 48)
                    .as("columns of about unit length")
                    .isBetween(0.9, 1.1);
            assertThat(Stiefel.orthogonalityError(authors.get("spd0.weight").value()))
                    .as("not on the manifold")
                    .isGreaterThan(0.1);
        }
    }

    private static ParameterSet initial(Fidelity fidelity) {
        return Pooling.parse("conv:48/rbf/spd:48/triu", fidelity)
                .initialize(20, new SplittableRandom(1), DType.F64, Device.CPU);
    }

    private static double[] values(ParameterSet parameters, String name) {
        return parameters.get(name).value().toDoubles();
    }
}
