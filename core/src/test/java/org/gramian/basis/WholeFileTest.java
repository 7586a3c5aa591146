package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeFileTest {
    @TempDir
    private Path folder = Path.of("");

    private static final class Refused extends IOException {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void whatCannotBeMadeIsNamedAsItWasAskedForAndBeforeTheWork() {
        Path file = Path.of("/proc/gramian.txt");
        assumeTrue(Files.isDirectory(Path.of("/proc")), "only Linux has a folder that takes no files from anybody");
        String message = file + ": cannot be written in folder /proc: no files can be made there";
        assertThatIOException().isThrownBy(() -> WholeFile.require(file)).withMessage(message);
        assertThatIOException()
                .isThrownBy(() -> WholeFile.put(file, partial -> Files.writeString(partial, "x")))
                .withMessage(message);
    }

    @Test
    void aFullDiskIsSaidWithTheFilesName() {
        Path file = folder.resolve("a.bin");
        assertThatIOException()
                .isThrownBy(() -> WholeFile.put(file, _ -> {
                    throw new IOException("No space left on device");
                }))
                .withMessage(file + ": cannot be written in folder " + folder
                        + ": No space left on device: make room there, or name another folder");
    }

    @Test
    void aPlaceThatWillDoIsLeftAsItWas() throws IOException {
        Path old = Files.writeString(folder.resolve("a.txt"), "old");
        WholeFile.require(old);
        WholeFile.require(folder.resolve("b.txt"));
        assertThat(old).hasContent("old");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(old));
    }

    @Test
    void whatAnInspectionRefusesNeverAppears() {
        Path file = folder.resolve("a.txt");
        assertThatExceptionOfType(Refused.class)
                .isThrownBy(() -> WholeFile.put(file, partial -> Files.writeString(partial, "x"), _ -> {
                    throw new Refused();
                }));
        assertThat(folder).isEmptyDirectory();
    }
}
