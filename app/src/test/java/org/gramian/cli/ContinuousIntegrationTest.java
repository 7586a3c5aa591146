package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code .ci/run} on a made-up machine: whoever runs it, tests in a browser are never skipped silently. */
class ContinuousIntegrationTest {
    @Test
    void failingMirrorIsTriedThreeTimes(@TempDir Path folder) throws IOException, InterruptedException {
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Files.createDirectories(folder.resolve(".ci"));
        Files.copy(Path.of("..", ".ci", "run"), folder.resolve(".ci/run"));
        Checkout.script(folder.resolve("verify"), "echo \"browser $GRAMIAN_BROWSER, verify $*\"; exit 3");
        for (String tool : List.of("bash", "cat", "cp", "dirname", "rm", "sleep", "tail")) {
            Checkout.pass(tool, tools);
        }
        Checkout.script(tools.resolve("id"), "echo 0");
        Checkout.script(tools.resolve("apt-get"), "echo \"$*\" >> requested\necho no route to the mirror; exit 100");
        ProcessBuilder builder = new ProcessBuilder(folder.resolve(".ci/run").toString()).directory(folder.toFile());
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of("PATH", tools.toString(), "TMPDIR", folder.toString(), "GRAMIAN_CI_PAUSE", "0"));

        Checkout.Outcome outcome = Checkout.await(builder.start());

        assertThat(Files.readAllLines(folder.resolve("requested"))).hasSize(3);
        assertThat(outcome.exitCode()).isEqualTo(3);
        assertThat(outcome.output()).isEqualTo("browser required, verify \n");
        assertThat(outcome.errors()).contains("no route to the mirror");
    }

    /** A tag can be moved to other code. */
    @Test
    void actionsArePinnedByCommit() throws IOException {
        try (Stream<Path> workflows = Files.list(Path.of("..", ".github", "workflows"))) {
            for (Path workflow : workflows.toList()) {
                assertThat(Files.readAllLines(workflow))
                        .filteredOn(line -> line.contains("uses:"))
                        .isNotEmpty()
                        .allMatch(line -> line.matches(".*uses: [\\w./-]+@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+"));
            }
        }
    }
}
