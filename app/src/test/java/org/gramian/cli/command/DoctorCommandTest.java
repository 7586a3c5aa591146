package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DoctorCommandTest {
    private static final Path GOLDEN = Path.of("..", "core", "src", "test", "resources", "golden");

    @Test
    void healthyInstallationPassesEveryCheck() {
        Run run = Run.of("doctor", "--json", "--golden", GOLDEN, "--device", "cpu");
        assertThat(run.code()).as(run.out()).isZero();
        JsonNode found = JsonMapper.shared().readTree(run.out());
        assertThat(found.get("healthy").asBoolean()).isTrue();
        assertThat(found.get("libtorch").get("version").asString()).startsWith("2.");
        assertThat(found.get("gradients").size()).isGreaterThan(40);
        assertThat(found.get("golden f64").size()).isGreaterThan(40);
        assertThat(found.get("golden f32").size())
                .isEqualTo(found.get("golden f64").size());
        assertThat(found.get("stepSeconds").asDouble()).isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void aReferenceValueThatIsOffMakesItFail(@TempDir Path folder) throws IOException {
        Path damaged = folder.resolve("bilinear.safetensors");
        byte[] bytes = Files.readAllBytes(GOLDEN.resolve("bilinear.safetensors"));
        bytes[bytes.length - 1] ^= 0x10; // the last byte of the last float64: its exponent
        Files.write(damaged, bytes);
        Run run = Run.of("doctor", "--golden", folder, "--device", "cpu");
        assertThat(run.code()).isEqualTo(ExitCode.FAILED);
        assertThat(run.out()).contains("bilinear");
    }

    @Test
    void aFolderWithoutReferencesIsRefused(@TempDir Path folder) {
        Run run = Run.of("doctor", "--golden", folder);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains(folder.toString()).hasLineCount(1);
    }
}
