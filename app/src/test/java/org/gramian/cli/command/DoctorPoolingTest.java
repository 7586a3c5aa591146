package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
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
        Run run = Run.of("doctor", "--fidelity", "paper", "--pooling", "conv:4/rbf/spd:3/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .containsPattern("triu: .*\\b2\\b")
                .containsPattern("rbf: .*4\\(rowsum\\(G\\)M - GM\\)")
                .containsPattern("expected +conv.weight")
                .doesNotContain("FAILED", "ok ");
    }

    @Test
    void authorsCodeDeviatesByNamedFactor() {
        Run run = Run.of("doctor", "--fidelity", "authors", "--pooling", "conv:4/rbf/spd:4/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .containsPattern("root: .*\\|y\\|/\\(\\|y\\|\\+0\\.03\\)")
                .containsPattern("expected +spd0.weight")
                .doesNotContain("FAILED", "triu:");
    }

    @Test
    void otherChecksAreNotCombinedWithAPooling() {
        Run.of("doctor", "--pooling", "paper", "--json").failed(ExitCode.USAGE, "--pooling", "--json");
        assertThat(Run.of("doctor", "--fidelity", "paper").code()).isEqualTo(ExitCode.USAGE);
    }
}
