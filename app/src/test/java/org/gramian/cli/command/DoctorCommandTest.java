package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DoctorCommandTest {
    @Test
    void healthyInstallationPassesEveryCheck() {
        Run run = Run.of("doctor", "--json", "--device", "cpu");
        assertThat(run.code()).as(run.out()).isZero();
        JsonNode found = JsonMapper.shared().readTree(run.out());
        assertThat(found.get("healthy").asBoolean()).isTrue();
        assertThat(found.get("libtorch").get("version").asString()).startsWith("2.");
        assertThat(found.get("gradients").size()).isGreaterThan(40);
        assertThat(found.get("stepSeconds").asDouble()).isPositive();
    }

    @Test
    void jsonOfOnePoolingIsRefused() {
        assertThat(Run.of("doctor", "--pooling", "average", "--json").code()).isEqualTo(ExitCode.USAGE);
    }
}
