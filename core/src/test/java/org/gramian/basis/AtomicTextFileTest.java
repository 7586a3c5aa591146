package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AtomicTextFileTest {
    @TempDir
    private Path folder;

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void fileIsWrittenAndReplaced() throws IOException {
        Path file = folder.resolve("a.txt");
        AtomicTextFile.write(file, text -> text.write("one ☃"));
        AtomicTextFile.write(file, text -> text.write("two ☃"));
        assertThat(file).hasContent("two ☃");
        assertThat(files()).containsExactly(file);
    }

    @Test
    void failureKeepsOldFileOnly() throws IOException {
        Path file = folder.resolve("a.txt");
        AtomicTextFile.write(file, text -> text.write("old"));
        assertThatIOException()
                .isThrownBy(() -> AtomicTextFile.write(file, text -> {
                    text.write("x".repeat(100_000));
                    throw new IOException("no space left");
                }))
                .has(facts(file, folder, folder, "no space left"));
        assertThatIOException()
                .isThrownBy(() -> AtomicTextFile.write(file, text -> text.write("half \ud800")))
                .has(facts("surrogate"));
        assertThat(file).hasContent("old");
        assertThat(files()).containsExactly(file);
    }

    @Test
    void unwritablePathIsReported() {
        assertThatIOException()
                .isThrownBy(() -> AtomicTextFile.write(folder, text -> text.write("x")))
                .has(facts(folder));
        assertThatIOException()
                .isThrownBy(() -> AtomicTextFile.write(folder.resolve("no/a.txt"), text -> text.write("x")))
                .has(facts(folder.resolve("no"), folder.resolve("no/a.txt")));
    }
}
