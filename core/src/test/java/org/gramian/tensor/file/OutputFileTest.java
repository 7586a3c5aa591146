package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OutputFileTest {
    @TempDir
    Path folder;

    @Test
    void fullDiskKeepsOldFileOnly() throws IOException {
        Path path = Files.writeString(folder.resolve("file"), "old");
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> OutputFile.write(path, channel -> {
                    channel.write(ByteBuffer.allocate(100));
                    throw new IOException("No space left on device");
                }))
                .has(facts(path, folder, folder, "No space left on device"));
        assertOnly(path, "old");
    }

    @Test
    void readOnlyFolderIsNamed() throws IOException {
        Path path = Files.writeString(folder.resolve("file"), "old");
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> OutputFile.write(path, channel -> {
                    throw new AccessDeniedException("file");
                }))
                .has(facts(path, folder));
        assertOnly(path, "old");
    }

    @Test
    void readOnlyDiskIsReportedWithoutThePartialFile() {
        Path path = folder.resolve("file");
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> OutputFile.write(path, channel -> {
                    throw new FileSystemException(".gramian-0.partial", null, "Read-only file system");
                }))
                .has(facts(path, folder));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void programmingErrorKeepsOldFileOnly() throws IOException {
        Path path = Files.writeString(folder.resolve("file"), "old");
        assertThatIllegalStateException()
                .isThrownBy(() -> OutputFile.write(path, channel -> {
                    throw new IllegalStateException("Already closed");
                }));
        assertOnly(path, "old");
    }

    @Test
    void missingFolderIsNamed() {
        Path absent = folder.resolve("absent");
        Path path = absent.resolve("file");
        assertRejected(TensorFileException.class, () -> OutputFile.write(path, channel -> {}), path, absent);
    }

    @Test
    void onlyFilesAreReplaced() {
        assertRejected(TensorFileException.class, () -> OutputFile.write(folder, channel -> {}), folder);
    }

    private void assertOnly(Path path, String content) {
        assertThat(path).hasContent(content);
        assertThat(folder).isDirectoryNotContaining(other -> !other.equals(path));
    }
}
