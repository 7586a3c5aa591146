package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GradcheckCommandTest {
    @Test
    void everyInputOfThePoolingIsShown() {
        Run run = Run.of("gradcheck", "--pooling", "conv:6/rbf/spd:4/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .contains("features", "conv.weight", "conv.bias", "spd0.weight")
                .doesNotContain("FAILED");
    }

    @Test
    void aPoolingThatCannotBeReadIsWrongInput() {
        Run run = Run.of("gradcheck", "--pooling", "conv:6/rbf/spd:4/relu");
        assertThat(run.code()).isEqualTo(Main.USAGE);
        assertThat(run.err()).contains("add triu");
    }

    @Test
    void whatThePaperPrintsIsExpectedToDeviateByTheFactorNamed() {
        Run run = Run.of("gradcheck", "--fidelity", "paper", "--pooling", "conv:6/rbf/spd:4/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .contains("triu: the off-diagonal gradient is 2 x the true one, as printed in the paper")
                .contains("rbf: the gradient is 4(rowsum(G)M - GM), as printed in the paper")
                .containsPattern("expected +conv.weight")
                .doesNotContain("FAILED", "ok ");
    }

    @Test
    void whatTheAuthorsComputeIsExpectedToDeviateByTheFactorNamed() {
        Run run = Run.of("gradcheck", "--fidelity", "authors", "--pooling", "conv:6/rbf/spd:6/relu/triu/root/l2");
        assertThat(run.code()).as(run.out()).isZero();
        assertThat(run.out())
                .contains("root: the gradient is |y|/(|y|+0.03) x the true one")
                .containsPattern("expected +spd0.weight")
                .doesNotContain("FAILED", "triu:");
    }

    @Test
    void aSizeThatTheAuthorsDoNotHaveIsRefused() {
        Run run = Run.of("gradcheck", "--fidelity", "authors", "--pooling", "conv:6/rbf/spd:4/triu");
        assertThat(run.code()).isEqualTo(Main.USAGE);
        assertThat(run.err()).contains("C' = C only").contains("spd:6");
    }

    @Test
    void aMistypedFidelityGetsTheNearest() {
        Run run = Run.of("gradcheck", "--fidelity", "papr", "--pooling", "paper");
        assertThat(run.code()).isEqualTo(Main.USAGE);
        assertThat(run.err()).contains("did you mean 'paper'?");
    }
}
