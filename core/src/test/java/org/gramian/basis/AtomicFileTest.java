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
    void fullDiskNamesTheFile() {
        Path file = folder.resolve("a.bin");
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.put(file, _ -> {
                    throw new IOException("No space left on device");
                }))
                .has(facts(file, folder, folder, "No space left on device"));
    }

    @Test
    void checkOfWritablePathLeavesNoFile() throws IOException {
        Path old = Files.writeString(folder.resolve("a.txt"), "old");
        AtomicFile.require(old);
        AtomicFile.require(folder.resolve("b.txt"));
        assertThat(old).hasContent("old");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(old));
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
}
