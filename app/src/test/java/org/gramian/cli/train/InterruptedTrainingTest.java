package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.cli.Program;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What Ctrl-C and SIGTERM do to {@code gramian train}, outside of steps as well. */
@DisabledOnOs(OS.WINDOWS)
final class InterruptedTrainingTest extends TrainFixture {
    private static void await(Program program, String words) throws IOException, InterruptedException {
        while (program.process().isAlive() && !program.said().contains(words)) {
            Thread.sleep(1);
        }
    }

    /** In a pseudo terminal of {@code script}, which passes the key on; a bar must not take the signal away from the training. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void controlCEndsTrainingWithProgressBar() throws IOException, InterruptedException {
        assumeThat(Path.of("/usr/bin/script")).exists();
        assumeThat(ignoresSigint()).isFalse();
        List<String> command = Program.command(tiny.begin(out, "--epochs", 4000, "--schedule", "constant"));
        Path log = root.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(
                        "script",
                        "-qefc",
                        // A shell that waits would get the signal too, and end with 130 whatever the program returns.
                        "exec "
                                + CommandHint.under(
                                        command.getFirst(),
                                        command.stream().skip(1).toArray()),
                        log.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TERM", "xterm");
        Files.createFile(log);
        try (Program program = new Program(builder.start(), log)) {
            await(program, "loss");
            OutputStream keys = program.process().getOutputStream();
            keys.write(3);
            keys.flush();
            assertThat(program.code()).as(program.said()).isEqualTo(ExitCode.INTERRUPTED);
            assertThat(program.said()).contains("interrupted; resume with: gramian train --resume");
        }
    }

    /** A process that a script starts in the background ignores SIGINT, and so do its children. */
    private static boolean ignoresSigint() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
    }
}
