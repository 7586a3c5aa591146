package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code .ci/run} on a made-up machine: whoever runs it, tests in a browser are never skipped silently. */
class ContinuousIntegrationTest {
    private static final String INSTALLING = "case \"$*\" in *install*) cp tools/id tools/chromium;; esac";

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void copy() throws IOException {
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Files.createDirectories(folder.resolve(".ci"));
        Files.copy(Path.of("..", ".ci", "run"), folder.resolve(".ci/run"));
        Checkout.script(folder.resolve("verify"), "echo \"browser $GRAMIAN_BROWSER, verify $*\"; exit 3");
        for (String tool : List.of("bash", "cat", "cp", "dirname", "rm", "sleep", "tail")) {
            Checkout.pass(tool, tools);
        }
        user(0);
    }

    private void user(int number) throws IOException {
        Checkout.script(folder.resolve("tools/id"), "echo " + number);
    }

    /** An apt-get that records its arguments. */
    private void apt(String body) throws IOException {
        Checkout.script(folder.resolve("tools/apt-get"), "echo \"$*\" >> requested\n" + body);
    }

    private long attempts() throws IOException {
        Path requested = folder.resolve("requested");
        return Files.exists(requested)
                ? Files.readAllLines(requested).stream()
                        .filter(line -> line.contains("install"))
                        .count()
                : 0;
    }

    private Checkout.Outcome run(String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(folder.resolve(".ci/run").toString());
        builder.command().addAll(List.of(arguments));
        builder.directory(folder.toFile()).environment().clear();
        builder.environment().put("PATH", folder.resolve("tools").toString());
        builder.environment().put("TMPDIR", folder.toString());
        builder.environment().put("GRAMIAN_CI_PAUSE", "0");
        return Checkout.await(builder.start());
    }

    @Test
    void aBrowserThatIsThereIsLeftAlone() throws IOException, InterruptedException {
        Checkout.script(folder.resolve("tools/google-chrome"), "");
        apt("exit 1");
        assertThat(run("--full", "-X")).isEqualTo(new Checkout.Outcome(3, "browser required, verify --full -X\n", ""));
        assertThat(attempts()).isZero();
    }

    @Test
    void failingMirrorIsTriedThreeTimes() throws IOException, InterruptedException {
        apt("echo no route to the mirror; exit 100");
        Checkout.Outcome outcome = run();
        assertThat(Files.readAllLines(folder.resolve("requested"))).hasSize(3);
        assertThat(outcome.exitCode()).isEqualTo(3);
        assertThat(outcome.output()).isEqualTo("browser required, verify \n");
        assertThat(outcome.errors()).contains("no route to the mirror");
    }

    @Test
    void anybodyElseThanRootInstallsNothing() throws IOException, InterruptedException {
        user(1000);
        apt(INSTALLING);
        Checkout.Outcome outcome = run();
        assertThat(attempts()).isZero();
        assertThat(outcome.errors()).contains("apt-get");
        assertThat(outcome.output()).isEqualTo("browser required, verify \n");
    }
}
