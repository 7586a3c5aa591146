package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.cli.Main;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.image.dataset.DatasetException;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class FailuresTest {
    @TempDir
    private Path root = Path.of("");

    /** A command that throws a given exception. */
    @Command(name = "fail")
    private record Failing(Throwable failure) implements Callable<Integer> {
        @Override
        public Integer call() throws Exception {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        }
    }

    private static Run fail(Throwable failure) {
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine()
                .addSubcommand(new CommandLine(new Failing(failure)))
                .setErr(new PrintWriter(err));
        return new Run(line.execute("fail"), "", err.toString());
    }

    private static void assertSaid(Throwable failure, int code, String... words) {
        Run run = fail(failure);
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).startsWith("gramian fail: ").contains(words).doesNotContain("\tat ");
        assertThat(run.err().lines()).hasSize(1);
    }

    /** A number that the program itself parsed wrongly is no mistake of the user. */
    @Test
    void rejectionByALibraryIsADefect() {
        assertSaid(
                catchThrowable(() -> Integer.parseInt("x")),
                ExitCode.FAILED,
                "internal error",
                "NumberFormatException");
        assertSaid(new IllegalArgumentException("expected a, found b"), ExitCode.USAGE, "expected a, found b");
    }

    @Test
    void unexpectedStateIsADefect() {
        for (RuntimeException defect : List.of(
                new IllegalStateException("this tensor has been freed"),
                new IllegalArgumentException(),
                new ArithmeticException("/ by zero"),
                new UnsupportedOperationException("x"))) {
            assertSaid(
                    defect,
                    ExitCode.FAILED,
                    "internal error",
                    "defect",
                    defect.getClass().getSimpleName(),
                    "https://github.com/gramian/gramian/issues");
        }
    }

    @Test
    void shapesThatDoNotFitAreADefect() {
        assertSaid(
                catchThrowable(() -> Shape.of(2, -1)), ExitCode.FAILED, "internal error", "sizes must not be negative");
        assertSaid(catchThrowable(() -> Device.parse("abacus")), ExitCode.USAGE, "abacus");
    }

    /** Training that diverges, and a folder that another run uses. */
    @Test
    void refusalsNameWhatTheUserCanDo() throws IOException, InterruptedException {
        TinyTraining tiny = TinyTraining.in(root);
        Path out = root.resolve("run");
        Run diverged = Run.of(tiny.begin(out, "--lr", 1e30).toArray());
        assertThat(diverged.code()).as(diverged.err()).isEqualTo(ExitCode.USAGE);
        assertThat(diverged.err()).contains("lower the learning rate").doesNotContain("internal error");
        try (FileChannel channel = FileChannel.open(out.resolve(".lock"), StandardOpenOption.WRITE)) {
            assertThat(channel.tryLock()).isNotNull();
            Run second = Run.of(tiny.resume(out).toArray());
            assertThat(second.code()).as(second.err()).isEqualTo(ExitCode.USAGE);
            assertThat(second.err())
                    .contains("another run is using this folder")
                    .doesNotContain("internal error");
        }
    }

    @Test
    void numbersHaveAsciiDigits() {
        Run run = Run.of("serve", "model.safetensors", "--port", "\uff18\uff10\uff18\uff10");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("--port", "whole number");
    }

    /** A command that says a given text in every way. */
    @Command(name = "say")
    private static final class Saying implements Callable<Integer> {
        private final String text;

        @Mixin
        private Console console = new Console();

        private Saying(String text) {
            this.text = text;
        }

        @Override
        public Integer call() {
            console.say(text);
            console.warn(text);
            console.line(text);
            return 0;
        }
    }

    /** Names of files may contain any character but a slash. */
    @Test
    void escapesDoNotReachTheTerminal() {
        String name = "1 hidden folder was skipped: .\u001b]0;owned\u0007\u202egpj";
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine()
                .addSubcommand(new CommandLine(new Saying(name)))
                .addSubcommand(new CommandLine(new Failing(new IOException(name))))
                .setErr(new PrintWriter(err));
        line.execute("say");
        line.execute("fail");
        line.execute("say", name);
        assertThat(err.toString()).contains("owned").doesNotContain("\u001b]", "\u0007", "\u202e");
    }

    @Test
    void outOfMemorySuggestsLargerHeap() {
        OutOfMemoryError full = new OutOfMemoryError("Java heap space");
        assertSaid(full, ExitCode.FAILED, "Java heap space", "GRAMIAN_JAVA_OPTS=-Xmx");
        assertSaid(new IllegalStateException("a worker failed", full), ExitCode.FAILED, "GRAMIAN_JAVA_OPTS=-Xmx");
    }

    @Test
    void unreadableFileIsUserError() {
        UncheckedIOException wrapped = new UncheckedIOException("while mapping", new IOException("a.png is too long"));
        assertSaid(wrapped, ExitCode.USAGE, "gramian fail: a.png is too long");
        assertSaid(new NoSuchFileException("a.png"), ExitCode.USAGE, "a.png");
        assertSaid(new AccessDeniedException("a.png"), ExitCode.USAGE, "a.png");
        assertSaid(new DirectoryNotEmptyException("a"), ExitCode.USAGE, "a: DirectoryNotEmptyException");
        assertSaid(new IOException(), ExitCode.USAGE, "java.io.IOException");
    }

    @Test
    void kindOfFailureDecidesExitCode() throws IOException {
        Path place = Path.of("photos");
        assertSaid(new DatasetException(place, "expected images"), ExitCode.DATA, "photos: expected images");
        UncheckedIOException wrapped = new UncheckedIOException(new DatasetException(place, "expected images"));
        assertSaid(wrapped, ExitCode.DATA, "photos: expected images");
        assertSaid(new UnusableWeightsException(new IOException("cut short")), ExitCode.MODEL, "cut short");
        assertSaid(caught(() -> ModelFile.header(Path.of("absent"))), ExitCode.MODEL, "absent");
        WeightStore store = new WeightStore(Path.of("absent"));
        assertSaid(
                caught(() -> store.open(WeightName.parse("vgg16"), Arena.ofAuto(), _ -> {})),
                ExitCode.MODEL,
                "'vgg16'");
    }

    private static Throwable caught(ThrowingCallable code) {
        Throwable thrown = catchThrowable(code);
        assertThat(thrown).isInstanceOf(IOException.class);
        return thrown;
    }

    @Test
    void internalErrorAsksForReport() {
        assertSaid(new NullPointerException("x"), ExitCode.FAILED, "GRAMIAN_DEBUG=1");
    }
}
