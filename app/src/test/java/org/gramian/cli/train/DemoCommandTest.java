package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.TypedCommands;
import org.gramian.cli.common.ExitCode;
import org.gramian.demo.TextureSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DemoCommandTest {
    private static final TextureSet TINY = new TextureSet(4, 48, 0);

    @TempDir
    private Path folder;

    private static Run demo(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = TypedCommands.commandLine(TINY)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        String[] words = Stream.concat(Stream.of("demo"), Stream.of(arguments))
                .map(Object::toString)
                .toArray(String[]::new);
        int code = line.execute(words);
        return new Run(code, out.toString(), err.toString());
    }

    @Test
    void demoWritesReportAndResumes() throws IOException {
        Path out = folder.resolve("demo");
        Run first = demo("--out", out, "--device", "cpu").done();
        assertThat(first.out())
                .containsPattern("average pooling +\\d+\\.\\d \\(\\d")
                .containsPattern("pooling auto +\\d+\\.\\d \\(\\d")
                .has(facts("synthetic", "McNemar", out.resolve("report.html")))
                .contains("train DIR", "predict run");
        assertThat(first.out().lines().count() + first.err().lines().count()).isLessThanOrEqualTo(12);
        assertThat(out.resolve("report.html"))
                .content()
                .contains("average", "auto")
                .doesNotContain("src=\"http");
        Map<Path, FileTime> before = times(out);
        Run again = demo("--out", out, "--device", "cpu").done();
        assertThat(again.out()).isEqualTo(first.out());
        assertThat(times(out)).containsAllEntriesOf(before);
    }

    /** Returns the times of models and images. */
    private static Map<Path, FileTime> times(Path out) throws IOException {
        try (Stream<Path> files = Files.walk(out)) {
            return files.filter(file -> file.toString().endsWith(".jpg") || file.endsWith("model.safetensors"))
                    .collect(Collectors.toMap(file -> file, DemoCommandTest::time));
        }
    }

    private static FileTime time(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void rejectsOtherContentWithoutTouchingIt() throws IOException {
        Path mine = Files.createDirectories(folder.resolve("mine"));
        Path file = Files.writeString(mine.resolve("photo.txt"), "precious");
        for (Path out : List.of(mine, file)) {
            demo("--out", out).failed(ExitCode.USAGE, out, "--out");
        }
        assertThat(mine).isDirectoryNotContaining(path -> !path.equals(file));
        assertThat(file).hasContent("precious");
    }

    @Test
    void rejectsDemoOfAnotherSeed() throws IOException {
        Path out = Files.createDirectories(folder.resolve("demo"));
        Files.writeString(out.resolve("demo.txt"), "gramian demo, version 2\nseed 3\n");
        Run run = demo("--out", out, "--seed", 4);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts("3", "--out"));
    }
}
