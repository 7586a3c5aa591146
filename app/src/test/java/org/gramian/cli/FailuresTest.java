package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class FailuresTest {
    /** A command that fails as it is told. */
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

    @Test
    void aFullMemoryIsASentenceWithWhatToTry() {
        OutOfMemoryError full = new OutOfMemoryError("Java heap space");
        assertSaid(full, Main.FAILED, "memory is full (Java heap space", "GRAMIAN_JAVA_OPTS=-Xmx");
        assertSaid(new IllegalStateException("a worker failed", full), Main.FAILED, "GRAMIAN_JAVA_OPTS=-Xmx");
    }

    @Test
    void aFileThatCannotBeReadIsNotAnInternalError() {
        UncheckedIOException wrapped = new UncheckedIOException("while mapping", new IOException("a.png is too long"));
        assertSaid(wrapped, Main.WRONG_INPUT, "gramian fail: a.png is too long");
        assertSaid(new NoSuchFileException("a.png"), Main.WRONG_INPUT, "a.png: there is no such file");
        assertSaid(new AccessDeniedException("a.png"), Main.WRONG_INPUT, "a.png: this user may not");
        assertSaid(new DirectoryNotEmptyException("a"), Main.WRONG_INPUT, "a: DirectoryNotEmptyException");
        assertSaid(new IOException(), Main.WRONG_INPUT, "java.io.IOException");
    }

    @Test
    void whatIsOurFaultSaysSo() {
        assertSaid(new NullPointerException("x"), Main.FAILED, "internal error", "GRAMIAN_DEBUG=1");
    }

    @Test
    void theHelpSaysWhatTheExitCodesMean() {
        assertThat(Run.of("--help").out())
                .contains("2 wrong usage or input", "3 data:", "spoil training", "could not be read");
    }
}
