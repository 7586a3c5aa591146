package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.gramian.cli.Program;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A run that is killed and resumed ends with the same bytes as an undisturbed one. */
@DisabledOnOs(OS.WINDOWS)
final class KilledTrainingTest {
    private static final int KILLS = Boolean.getBoolean("gramian.full") ? 20 : 2;
    private static final int ATTEMPTS = 2 * KILLS;
    private static final int EPOCHS_PER_KILL = 8;
    private static final int EPOCHS = EPOCHS_PER_KILL * KILLS;

    @TempDir
    private static Path root = Path.of("");

    private static TinyTraining tiny = new TinyTraining(Path.of(""));
    private static Path undisturbed = Path.of("");

    @BeforeAll
    static void trainUndisturbed() throws IOException {
        tiny = TinyTraining.in(root);
        undisturbed = root.resolve("undisturbed");
        Run.of(begin(undisturbed).toArray()).done();
    }

    /** With the optimizer that has the most state. */
    private static List<String> begin(Path out) {
        return tiny.begin(
                out,
                "--threads",
                1,
                "--batch",
                4,
                "--epochs",
                EPOCHS,
                "--schedule",
                "constant",
                "--optimizer",
                "adamw",
                "--clip",
                1,
                "--ema",
                0.9,
                "--keep-every",
                "0s");
    }

    /** Resumes, or begins where not even the configuration was written. */
    private static List<String> command(Path out) throws IOException {
        if (Files.exists(out.resolve("config.yaml"))) {
            return tiny.resume(out, "--threads", 1, "--keep-every", "0s");
        }
        TinyTraining.delete(out);
        return begin(out);
    }

    private static Path checkpoint(Path out) {
        return out.resolve("checkpoint.safetensors");
    }

    private static FileTime written(Path out) throws IOException {
        try {
            return Files.getLastModifiedTime(checkpoint(out));
        } catch (NoSuchFileException none) {
            return FileTime.fromMillis(0);
        }
    }

    /** Waits until another checkpoint is there, or the program has ended. */
    private static void awaitCheckpoint(Program program, Path out, FileTime former)
            throws IOException, InterruptedException {
        while (program.process().isAlive() && written(out).equals(former)) {
            Thread.sleep(1);
        }
    }

    private static boolean isDone(Path out) {
        return Files.exists(out.resolve("model.safetensors")) && !Files.exists(checkpoint(out));
    }

    /**
     * Waits for a moment while the program starts, or, more often, while it trains and writes checkpoints. Training moments are
     * counted in checkpoints, not in seconds, so that kills fall into the training on a machine of any speed.
     */
    private static void awaitMoment(Program program, Path out, RandomGenerator random)
            throws IOException, InterruptedException {
        boolean training = !isDone(out) && random.nextInt(5) > 0;
        for (int k = training ? random.nextInt(1, EPOCHS_PER_KILL / 2) : 0; k > 0; k--) {
            awaitCheckpoint(program, out, written(out));
        }
        program.process().waitFor(random.nextLong(training ? 20 : 2000), TimeUnit.MILLISECONDS);
    }

    @Test
    void killsAtRandomMomentsChangeNothing() throws IOException, InterruptedException {
        long seed = Long.getLong("gramian.seed", 0);
        RandomGenerator random = new SplittableRandom(seed);
        Path out = root.resolve("killed");
        Path log = root.resolve("killed.log");
        int kills = 0;
        int trained = 0;
        for (int attempt = 0; attempt < ATTEMPTS && kills < KILLS; attempt++) {
            FileTime former = written(out);
            try (Program program = Program.start(log, command(out))) {
                awaitMoment(program, out, random);
                if (program.process().isAlive()) {
                    program.kill();
                    kills++;
                    trained += written(out).equals(former) ? 0 : 1;
                } else {
                    assertThat(program.code()).as(program.said()).isZero();
                }
            }
        }
        String course = "seed %d: %d kills, %d of them in training".formatted(seed, kills, trained);
        assertThat(kills).as(course).isEqualTo(KILLS);
        assertThat(trained).as(course).isGreaterThanOrEqualTo(Math.max(1, KILLS / 4));
        assertResumes(out);
    }

    @Test
    void terminatedRunResumesToTheSameBytes() throws IOException, InterruptedException {
        Path out = root.resolve("terminated");
        try (Program program = Program.start(root.resolve("terminated.log"), command(out))) {
            awaitCheckpoint(program, out, written(out));
            program.process().destroy(); // SIGTERM
            assertThat(program.code()).as(program.said()).isEqualTo(ExitCode.INTERRUPTED);
            assertThat(program.said()).contains("gramian train --resume " + out).doesNotContain("Exception");
        }
        assertThat(checkpoint(out)).exists();
        assertResumes(out);
    }

    private static void assertResumes(Path out) throws IOException {
        Run.of(command(out).toArray()).done();
        assertThat(TinyTraining.names(out)).isEqualTo(TinyTraining.names(undisturbed));
        for (String name :
                List.of("model.safetensors", "predictions.csv", "evaluation.json", "history.csv", "training.json")) {
            assertThat(out.resolve(name)).as(name).hasSameBinaryContentAs(undisturbed.resolve(name));
        }
    }
}
