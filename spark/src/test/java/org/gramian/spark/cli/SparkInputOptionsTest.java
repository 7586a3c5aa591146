package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkInputOptionsTest {
    private static final byte[] JPEG = {(byte) 0xFF, (byte) 0xD8, (byte) 0xFF, (byte) 0xE0};

    @TempDir
    Path folder;

    private final Configuration here = new Configuration(false);
    private final Configuration elsewhere = new Configuration(false);

    @BeforeEach
    void files() throws IOException {
        // A file system that is not known to be this machine's.
        elsewhere.setClass("fs.file.impl", RawLocalFileSystem.class, RawLocalFileSystem.class);
        elsewhere.setBoolean("fs.file.impl.disable.cache", true);
        Files.createDirectories(folder.resolve("deep/er"));
        Files.createDirectories(folder.resolve(".hidden"));
        for (String name :
                List.of("b 1%41.jpg", "a.png", "deep/er/c.webp", "notes.txt", ".hidden/d.jpg", "deep/_e.JPG")) {
            Files.write(folder.resolve(name), JPEG);
        }
        Files.writeString(folder.resolve("notes.txt"), "none");
    }

    private List<String> expected(String... names) {
        return List.of(names).stream()
                .map(name -> "file:" + folder.resolve(name))
                .toList();
    }

    private final List<String> remarks = new ArrayList<>();

    private List<String> list(Configuration place, Object... places) throws IOException {
        return SparkInputOptions.list(Stream.of(places).map(Object::toString).toList(), place, remarks::add);
    }

    @Test
    void localAndRemoteListingsAreEqual() throws IOException {
        List<String> images = expected("a.png", "b 1%41.jpg", "deep/_e.JPG", "deep/er/c.webp");

        assertThat(list(here, folder)).isEqualTo(images);
        assertThat(list(elsewhere, folder)).isEqualTo(images);
        assertThat(remarks).extracting(remark -> remark.charAt(0)).containsExactly('1', '1', '2');
    }

    @Test
    void listsBrokenLinkAndImageWithoutExtension() throws IOException {
        Path links = Files.createDirectory(folder.resolve("deep/links"));
        Files.createSymbolicLink(links.resolve("nowhere.jpg"), folder.resolve("gone.jpg"));
        Files.createSymbolicLink(links.resolve("round"), folder);
        Files.write(links.resolve("img_0001"), JPEG);

        assertThat(list(here, links)).isEqualTo(expected("deep/links/img_0001", "deep/links/nowhere.jpg"));
    }

    @Test
    void filesAndPatternsAreListedInOrder() throws IOException {
        assertThat(list(here, folder.resolve("notes.txt"), folder + "/[ab]*"))
                .isEqualTo(expected("notes.txt", "a.png", "b 1%41.jpg"));
    }

    @Test
    void placeWithoutImagesIsRejected() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));

        for (Configuration place : List.of(here, elsewhere)) {
            assertThatThrownBy(() -> list(place, folder.resolve("a.png"), empty))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(empty + ": ");
        }
        assertThatThrownBy(() -> list(here, folder + "/none-*"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("/none-*");
    }
}
