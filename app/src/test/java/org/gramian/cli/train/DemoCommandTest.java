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
import org.gramian.demo.DemoRecipe;
import org.gramian.demo.TextureSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DemoCommandTest {
    private static final DemoRecipe TINY =
            new DemoRecipe(new TextureSet(6, 48, 0), "conv:6/rbf/spd:4/relu/triu/root/l2", 2);

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
        Run first = demo("--out", out, "--device", "cpu");
        assertThat(first.code()).as(first.err()).isZero();
        assertThat(first.out())
                .containsPattern("average +\\d+\\.\\d \\(\\d")
                .containsPattern("second-order +\\d+\\.\\d \\(\\d")
                .has(facts("second-order", "average", "McNemar", out.resolve("report.html")))
                .contains("predict " + out.resolve("second-order/model.safetensors"), "serve ", "train DIR");
        assertThat(out.resolve("report.html"))
                .content()
                .contains("second-order")
                .doesNotContain("src=\"http");
        for (String run : List.of("average", "second-order")) {
            assertThat(out.resolve(run).resolve("report.html")).content().has(facts(run));
        }
        Map<Path, FileTime> before = times(out);
        Run again = demo("--out", out, "--device", "cpu");
        assertThat(again.code()).as(again.err()).isZero();
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
            Run run = demo("--out", out);
            assertThat(run.code()).isEqualTo(ExitCode.USAGE);
            assertThat(run.err()).has(facts(out, "--out"));
        }
        assertThat(mine).isDirectoryNotContaining(path -> !path.equals(file));
        assertThat(file).hasContent("precious");
    }

    @Test
    void rejectsDemoOfAnotherSeed() throws IOException {
        Path out = Files.createDirectories(folder.resolve("demo"));
        Files.writeString(out.resolve("demo.txt"), "gramian demo, version 1\nseed 3\n");
        Run run = demo("--out", out, "--seed", 4);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts("3", "--out"));
    }
}
