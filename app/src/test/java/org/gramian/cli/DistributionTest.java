package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code scripts/build-distribution}: its usage errors, and, under {@code --full}, that its result runs without Java. */
@DisabledOnOs(OS.WINDOWS)
class DistributionTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String SCRIPT =
            ROOT.resolve("scripts/build-distribution").toString();

    @TempDir
    private Path folder;

    private static Checkout.Outcome run(ProcessBuilder process) throws IOException, InterruptedException {
        return Checkout.await(process.start());
    }

    static Stream<Arguments> wrong() {
        return Stream.of(
                Arguments.of(List.of("--platform", "linux-riscv64"), facts("--platform", "linux-aarch64", "riscv64")),
                Arguments.of(List.of("--platform"), facts("--platform", "value")),
                Arguments.of(List.of("--platform", "win-x86_64"), facts("win-x86_64", "--jmods")),
                Arguments.of(List.of("--jmods", "/nowhere"), facts("--jmods", "java.base.jmod", "/nowhere")),
                Arguments.of(List.of("--plattform", "x"), facts("'--plattform'", "--help")));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void aWrongOptionIsOneSentence(List<String> options, Facts message) throws IOException, InterruptedException {
        var command = Stream.concat(Stream.of(SCRIPT), options.stream()).toList();
        var outcome = run(new ProcessBuilder(command));
        assertThat(outcome.exitCode()).isEqualTo(2);
        assertThat(outcome.output()).isEmpty();
        assertThat(outcome.errors())
                .startsWith("build-distribution: ")
                .has(message)
                .hasLineCount(1);
    }

    @Test
    void theDistributionRunsWithoutJava() throws IOException, InterruptedException {
        assumeTrue(Boolean.getBoolean("gramian.full"), "builds a distribution: ./verify --full");
        var built = run(new ProcessBuilder(SCRIPT, "--out", folder.toString()));
        assertThat(built.exitCode()).as(built.errors()).isZero();
        Path archive;
        try (Stream<Path> files = Files.list(folder)) {
            archive = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .findFirst()
                    .orElseThrow();
        }
        assertThat(run(new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", folder.toString()))
                        .exitCode())
                .isZero();
        Path tree = Path.of(archive.toString().replace(".tar.gz", ""));
        for (String file : List.of("LICENSE", "README.md", "docs/guide.md", "runtime/release", "lib")) {
            assertThat(tree.resolve(file)).exists();
        }
        var process = new ProcessBuilder(tree.resolve("gramian").toString(), "--version");
        process.environment().clear();
        process.environment().put("PATH", "/usr/bin:/bin");
        process.environment().put("JAVA_HOME", "/nowhere");
        var version = run(process);
        assertThat(version.exitCode()).as(version.errors()).isZero();
        assertThat(version.output()).startsWith("gramian ");
    }
}
