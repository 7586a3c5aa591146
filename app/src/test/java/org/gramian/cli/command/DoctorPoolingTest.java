package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.cli.Run;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.junit.jupiter.api.Test;

/** {@code doctor --pooling}. */
class DoctorPoolingTest {
    @Test
    void everyInputOfThePoolingIsShown() {
        Run run = Run.of("doctor", "--pooling", "conv:4/rbf/spd:3/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .contains("features", "conv.weight", "conv.bias", "spd0.weight")
                .doesNotContain("FAILED");
    }

    @Test
    void printedFormulaDeviatesByNamedFactor() {
        assertThat(formulas(Fidelity.PAPER, 3))
                .containsPattern("triu: .*\\b2\\b")
                .containsPattern("rbf: .*4\\(rowsum\\(G\\)M - GM\\)")
                .containsPattern("expected +conv.weight")
                .doesNotContain("FAILED", "ok ");
    }

    @Test
    void authorsCodeDeviatesByNamedFactor() {
        assertThat(formulas(Fidelity.AUTHORS, 4))
                .containsPattern("root: .*\\|y\\|/\\(\\|y\\|\\+0\\.03\\)")
                .containsPattern("expected +spd0.weight")
                .doesNotContain("FAILED", "triu:");
    }

    private static String formulas(Fidelity fidelity, int size) {
        Pooling pooling = Pooling.parse("conv:4/rbf/spd:" + size + "/relu/triu/root/l2", fidelity);
        return Run.of("doctor", "--pooling", pooling).done().out();
    }
}
