package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import org.gramian.pooling.Pooling;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RuleTest {
    private static final Pooling PAPER = Pooling.parse("paper");

    @AfterEach
    void restore() {
        Rule.use("on");
    }

    @Test
    void offLeavesEveryModelPlain() {
        assertThat(Acceleration.rewrite(PAPER)).isNotSameAs(PAPER);
        Rule.use("off");
        assertThat(Rule.values()).noneMatch(Rule::isEnabled);
        assertThat(Acceleration.rewrite(PAPER)).isSameAs(PAPER);
    }

    @Test
    void leavesOutNamedRules() {
        Rule.use("-stem,-SIDE-STREAM");
        assertThat(Arrays.stream(Rule.values()).filter(rule -> !rule.isEnabled()))
                .containsExactlyInAnyOrder(Rule.STEM, Rule.SIDE_STREAM);
    }

    @Test
    void rejectsUnknownRule() {
        assertRejected(() -> Rule.use("-stems"), "'-stems'", "side-stream");
        assertThat(Rule.STEM.isEnabled()).isTrue();
    }
}
