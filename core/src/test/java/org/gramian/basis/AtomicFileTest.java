package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
    @TempDir
    private Path folder = Path.of("");

    private static final class Refused extends IOException {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void unwritablePathIsNamedBeforeTheWork() {
        Path file = Path.of("/proc/gramian.txt");
        assumeTrue(Files.isDirectory(Path.of("/proc")), "only Linux has a folder that takes no files from anybody");
        assertThatIOException().isThrownBy(() -> AtomicFile.require(file)).has(facts(file, "/proc", "/proc"));
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.put(file, partial -> Files.writeString(partial, "x")))
                .has(facts(file, "/proc", "/proc"));
    }

    @Test
    void fileRejectedByInspectionIsNotWritten() {
        Path file = folder.resolve("a.txt");
        assertThatExceptionOfType(Refused.class)
                .isThrownBy(() -> AtomicFile.put(file, partial -> Files.writeString(partial, "x"), _ -> {
                    throw new Refused();
                }));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void fileIsWrittenAndReplaced() throws IOException {
        Path file = folder.resolve("a.txt");
        AtomicFile.putText(file, text -> text.write("one ☃"));
        AtomicFile.putText(file, text -> text.write("two ☃"));
        assertThat(file).hasContent("two ☃");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void failureKeepsOldFileOnly() throws IOException {
        Path file = folder.resolve("a.txt");
        AtomicFile.putText(file, text -> text.write("old"));
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.putText(file, text -> {
                    text.write("x".repeat(100_000));
                    throw new IOException("no space left");
                }))
                .has(facts(file, folder, folder, "no space left"));
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.putText(file, text -> text.write("half \ud800")))
                .has(facts("surrogate"));
        assertThat(file).hasContent("old");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void unwritablePathIsReported() {
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.putText(folder, text -> text.write("x")))
                .has(facts(folder));
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.putText(folder.resolve("no/a.txt"), text -> text.write("x")))
                .has(facts(folder.resolve("no"), folder.resolve("no/a.txt")));
    }
}
