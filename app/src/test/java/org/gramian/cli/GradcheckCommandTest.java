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
        assertThat(run.code()).isEqualTo(Main.WRONG_INPUT);
        assertThat(run.err()).contains("add triu");
    }
}
