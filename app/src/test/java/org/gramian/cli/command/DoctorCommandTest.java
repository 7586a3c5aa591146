package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.cli.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** All checks, which take a quarter of a minute; DoctorPoolingTest runs the command on one pooling. */
class DoctorCommandTest {
    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void healthyInstallationPassesEveryCheck() {
        Run run = Run.of("doctor", "--device", "cpu").done();
        assertThat(run.out())
                .containsPattern("libtorch +2\\.\\d+")
                .containsPattern("gradients +(\\d+) of \\1 ")
                .containsPattern("timing .* \\d+\\.\\d ms")
                .contains("all checks passed");
    }
}
