package org.gramian.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.basis.EnumWords;
import org.gramian.check.PoolingCheck.GradientComparison;
import org.gramian.check.PoolingCheck.SurrogateFunction;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.spd.SingleThreaded;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(SingleThreaded.class)
class PoolingCheckTest {
    private static final int ELEMENTS = Boolean.getBoolean("gramian.full") ? Integer.MAX_VALUE : 8;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "corrected | conv:4/rbf/spd:4/relu/triu/root/l2        | 0 | none",
                "paper     | conv:4/rbf/spd:3/relu/triu/root/l2        | 2 | features conv.weight conv.bias"
                        + " spd0.weight",
                "paper     | rbf/flat                                  | 1 | features",
                "paper     | rbf:sigma=learned/spd:3/log/triu          | 2 | features rbf.logSigma spd0.weight",
                "paper     | rbf:sigma=mean-full/spd:4/spd:3/relu/flat | 1 | features",
                "authors   | conv:4/rbf/spd:4/relu/triu/root/l2        | 1 | features conv.weight conv.bias"
                        + " spd0.weight",
                "authors   | bilinear/flat/root:1e-5                   | 1 | features",
                "authors   | conv:4/rbf/flat                           | 0 | none",
                "corrected | cross:2/root/l2                           | 0 | none",
                "corrected | conv:same/[rbf/triu/l2+average]/root      | 0 | none",
                "paper     | [rbf/spd:3/relu/triu+conv:3/average]/l2   | 2 | features join.0.spd0.weight"
            })
    void gradientsMatchTheirStatement(String fidelity, String text, int formulas, @Nullable String deviating) {
        PoolingCheck check = PoolingCheck.of(
                Pooling.parse(text, EnumWords.parse(Fidelity.class, "fidelity", fidelity)), Device.CPU, ELEMENTS);
        assertThat(check.passed()).as(check.toString()).isTrue();
        assertThat(check.formulas()).hasSize(formulas);
        assertThat(check.inputs().stream()
                        .filter(GradientComparison::deviates)
                        .map(GradientComparison::subject)
                        .toList())
                .as("what is behind a deviating formula, and nothing else")
                .isEqualTo(deviating == null ? List.of() : List.of(deviating.split(" ")));
    }

    @Test
    void factorFourIsTheDerivativeForSymmetricUpstreamGradients() {
        PoolingCheck check = PoolingCheck.of(Pooling.parse("rbf:gradient=printed/spd:3/triu"), Device.CPU, ELEMENTS);
        assertThat(check.passed()).as(check.toString()).isTrue();
        assertThat(check.formulas()).hasSize(1);
        assertThat(check.inputs()).noneMatch(GradientComparison::deviates);
    }

    /** What makes the expected deviations worth something: others fail, in either direction. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rbf/spd:3/triu:gradient=printed | rbf/spd:3/triu",
                "rbf/spd:3/triu                  | rbf/spd:3/triu:gradient=printed",
                "rbf:gradient=printed/flat       | rbf/flat",
                "rbf/flat                        | rbf:gradient=printed/flat",
                "rbf/triu/root:gradient=authors  | rbf/triu/root",
                "rbf/triu/root                   | rbf/triu/root:gradient=authors",
                "rbf/triu:gradient=printed/root  | rbf/triu/root:gradient=authors"
            })
    void otherDeviationThanStatedFails(String computed, String stated) {
        assertThat(compare(computed, computed)).allMatch(GradientComparison::passed);
        assertThat(compare(computed, stated)).noneMatch(GradientComparison::passed);
    }

    private static List<GradientComparison> compare(String computed, String stated) {
        Pooling pooling = Pooling.parse(computed);
        SplittableRandom random = new SplittableRandom(3);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(5, random, DType.F64, Device.CPU)) {
            Tensor features = Tensors.gaussian(random, Shape.of(2, 5, 2, 3), DType.F64);
            return PoolingCheck.compare(
                    new SurrogateFunction(pooling, false, features, parameters),
                    new SurrogateFunction(Pooling.parse(stated), true, features, parameters),
                    parameters,
                    ELEMENTS);
        }
    }
}
