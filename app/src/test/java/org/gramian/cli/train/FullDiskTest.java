package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that fills up while training costs the work since the last checkpoint, and nothing else. */
final class FullDiskTest {
    @TempDir
    private Path root = Path.of("");

    private Path disk = Path.of("");
    private TinyTraining tiny = new TinyTraining(Path.of(""));
    private boolean mounted;

    private static boolean succeeds(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }

    @BeforeEach
    void mount() throws IOException, InterruptedException {
        tiny = TinyTraining.in(root);
        disk = Files.createDirectories(root.resolve("disk"));
        mounted = succeeds("mount", "-t", "tmpfs", "-o", "size=2m", "gramian-test", disk.toString());
        assumeTrue(mounted, "a small disk can be mounted only by root, and not in every container");
    }

    @AfterEach
    void unmount() throws InterruptedException {
        if (mounted) {
            assertThat(succeeds("umount", disk.toString())).isTrue();
        }
    }

    /** Takes all room that is left but for some bytes. */
    private Path fill(long left) throws IOException {
        Path ballast = disk.resolve("ballast");
        try (OutputStream out = Files.newOutputStream(ballast)) {
            out.write(new byte[Math.toIntExact(disk.toFile().getUsableSpace() - left)]);
        }
        return ballast;
    }

    /** Runs a command line with features kept elsewhere: the run's folder alone is on the small disk. */
    private Run run(List<String> line) {
        return Run.of(line.stream()
                .flatMap(word -> word.equals("--no-cache")
                        ? Stream.of("--cache-dir", root.resolve("features").toString())
                        : Stream.of(word))
                .toArray());
    }

    private static void assertSaid(int code, Run run, String... words) {
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).contains(words).doesNotContain("Exception").doesNotContain("\tat ");
    }

    @Test
    void resumesOnceThereIsDiskSpace() throws IOException {
        Path unbroken = root.resolve("unbroken");
        assertThat(run(tiny.begin(unbroken, "--epochs", 0, "--fine-tune", 3, "--augment", "none"))
                        .code())
                .isZero();
        Path out = disk.resolve("run");
        assertThat(run(tiny.begin(out, "--epochs", 0, "--fine-tune", 3, "--augment", "none", "--time-budget", "0.001s"))
                        .code())
                .isZero();
        Path ballast = fill(8192);

        Run full = run(tiny.resume(out));
        assertThat(full.code()).isNotZero();
        assertThat(full.err()).contains("No space left");
        assertThat(TinyTraining.names(out)).noneMatch(name -> name.endsWith(".partial"));

        Files.delete(ballast);
        assertThat(run(tiny.resume(out)).code()).isZero();
        assertThat(out.resolve("model.safetensors")).hasSameBinaryContentAs(unbroken.resolve("model.safetensors"));
    }

    @Test
    void fullDiskBeforeFirstCheckpointCannotResume() throws IOException {
        fill(16384);
        Run full = run(tiny.begin(disk.resolve("run"), "--epochs", 3));
        assertSaid(ExitCode.USAGE, full, "disk space");
        assertThat(full.err()).doesNotContain("--resume");
    }
}
