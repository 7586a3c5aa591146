package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where standard output leads: results that are lost are no success, and a terminal shows everything once. */
class StandardOutputTest {
    private static final File FULL = new File("/dev/full");

    @TempDir
    private Path folder = Path.of("");

    private Path model = Path.of("");
    private Path broken = Path.of("");

    @BeforeEach
    void write() throws IOException {
        model = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
        broken = Files.writeString(folder.resolve("broken.jpg"), "no image");
    }

    private String run(ProcessBuilder builder, int code) throws IOException, InterruptedException {
        File said = folder.resolve("said.txt").toFile();
        Process process = builder.redirectError(said).start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        String text = Files.readString(said.toPath(), StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(text).isEqualTo(code);
        return text;
    }

    @Test
    void lostOutputIsAnError() throws IOException, InterruptedException {
        assumeTrue(FULL.exists(), "this system has no file that is always full");
        new ImageFolder(folder).add("one.png", 1);
        for (List<String> arguments : List.of(
                List.of("methods"),
                List.of("predict", model.toString(), folder.resolve("one.png").toString()))) {
            ProcessBuilder builder = new ProcessBuilder(Program.command(arguments)).redirectOutput(FULL);
            assertThat(run(builder, ExitCode.USAGE)).startsWith("gramian").hasLineCount(1);
        }
    }

    @Test
    void closedPipeIsNotAnError() throws IOException, InterruptedException {
        new ImageFolder(folder).add("one.png", 1);
        ProcessBuilder builder = new ProcessBuilder(Program.command(
                List.of("predict", model.toString(), folder.resolve("one.png").toString())));
        File said = folder.resolve("said.txt").toFile();
        Process process = builder.redirectError(said).start();
        process.getInputStream().close();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(said.toPath(), StandardCharsets.UTF_8)).isEmpty();
        assertThat(process.exitValue()).isEqualTo(ExitCode.READER_EXITED);
    }

    @Test
    void terminalShowsUnreadableImageOnce() throws IOException, InterruptedException {
        Path screen = folder.resolve("screen.txt");
        String line =
                Program.command(List.of("predict", model.toString(), broken.toString(), "--format=jsonl")).stream()
                        .map(word -> "'" + word + "'")
                        .collect(Collectors.joining(" "));
        try {
            Process typed = new ProcessBuilder("script", "-qec", line, screen.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            assertThat(typed.waitFor()).isEqualTo(ExitCode.DATA);
        } catch (IOException noScript) {
            assumeTrue(false, "a terminal is played by script(1), which is not here");
        }
        assertThat(Files.readString(screen, StandardCharsets.UTF_8)).containsOnlyOnce("JPEG");
    }
}
