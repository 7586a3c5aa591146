package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.gramian.basis.RegularFile.NotRegularException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class RegularFileTest {
    @TempDir
    private Path folder;

    @Test
    void readsRegularFilesOnly() throws IOException {
        Path file = Files.writeString(folder.resolve("list"), "a\nb\n");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        assertThat(RegularFile.lines(link)).containsExactly("a", "b");
        assertThatThrownBy(() -> RegularFile.bytes(folder))
                .isInstanceOfSatisfying(
                        NotRegularException.class,
                        wrong -> assertThat(wrong.getReason()).contains("a directory"));
        assertThatThrownBy(() -> RegularFile.bytes(folder.resolve("none"))).isInstanceOf(NoSuchFileException.class);
    }

    /** {@code /dev/zero} has no end. */
    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void rejectsDevices() {
        Path zero = Path.of("/dev/zero");
        assertThatThrownBy(() -> RegularFile.bytes(zero)).isInstanceOf(NotRegularException.class);
        assertThatThrownBy(() -> RegularFile.lines(zero)).isInstanceOf(NotRegularException.class);
        assertThatThrownBy(() -> Sha256.of(zero)).isInstanceOf(NotRegularException.class);
    }
}
