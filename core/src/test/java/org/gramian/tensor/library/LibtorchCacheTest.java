package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.gramian.tensor.library.LibtorchCache.Disk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** LibtorchCache once, finding damage and repairing it. */
final class LibtorchCacheTest {
    @TempDir
    private Path temporary;

    private final List<String> progress = Collections.synchronizedList(new ArrayList<>());
    private Path root;
    private FakeLibtorch jar;

    @BeforeEach
    void packAJar() throws IOException {
        root = temporary.resolve("cache");
        jar = FakeLibtorch.jar(temporary.resolve("libtorch with spaces + signs.jar"));
    }

    @Test
    void librariesOfAJarAreUnpacked() throws IOException {
        LibtorchFolder found = cache().provide(jar.artifact());
        assertThat(found.folder()).isEqualTo(root.resolve(FakeLibtorch.FOLDER_NAME));
        assertThat(found.origin()).has(facts("2.7.1"));
        assertThat(found.version()).isEqualTo("2.7.1");
        assertIntact(found);
        assertThat(progress).singleElement().asString().has(facts("2.7.1", "4 MB"));
    }

    @Test
    void manifestListsNameSizeAndChecksum() throws IOException {
        Path folder = cache().provide(jar.artifact()).folder();
        String empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assertThat(folder.resolve(LibtorchManifest.FILE_NAME))
                .content()
                .hasLineCount(4)
                .contains("libgomp-98b21ff3.so.1\t0\t" + empty + "\n");
    }

    @Test
    void secondStartUnpacksNothing() throws IOException {
        cache().provide(jar.artifact());
        progress.clear();
        var before = times();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(times()).isEqualTo(before);
        assertThat(progress).isEmpty();
    }

    @Test
    void truncatedLibraryIsRepaired() throws IOException {
        Path library = cache().provide(jar.artifact()).folder().resolve("libtorch_cpu.so");
        try (RandomAccessFile file = new RandomAccessFile(library.toFile(), "rw")) {
            file.setLength(1_234_567);
        }
        progress.clear();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(progress).hasSize(2);
        assertThat(progress.getFirst()).has(facts("libtorch_cpu.so", "1234567", "3000000"));
    }

    @Test
    void missingLibraryOrManifestIsRepaired() throws IOException {
        for (String name : List.of("libc10.so", LibtorchManifest.FILE_NAME)) {
            Files.delete(cache().provide(jar.artifact()).folder().resolve(name));
            assertIntact(cache().provide(jar.artifact()));
        }
    }

    @Test
    void invalidManifestIsRepaired() throws IOException {
        for (String text : List.of("", "libc10.so\t12", "libc10.so\tmany\tabc\n", "\0\0\0\0")) {
            Path folder = cache().provide(jar.artifact()).folder();
            Files.writeString(folder.resolve(LibtorchManifest.FILE_NAME), text);
            assertIntact(cache().provide(jar.artifact()));
        }
    }

    @Test
    void fileInPlaceOfTheLibraryFolderIsReplaced() throws IOException {
        Files.createDirectories(root);
        Files.writeString(root.resolve(FakeLibtorch.FOLDER_NAME), "no folder");
        assertIntact(cache().provide(jar.artifact()));
    }

    @Test
    void verifyChecksumsDetectsChangedContentOfEqualSize() throws IOException {
        LibtorchFolder found = cache().provide(jar.artifact());
        try (RandomAccessFile file =
                new RandomAccessFile(found.folder().resolve("libtorch_cpu.so").toFile(), "rw")) {
            file.seek(1_500_000);
            int old = file.read();
            file.seek(1_500_000);
            file.write(old ^ 1);
        }
        assertThat(found.verifyChecksums()).singleElement().asString().has(facts("libtorch_cpu.so", "SHA-256"));
        progress.clear();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(progress).anySatisfy(line -> assertThat(line).contains("damaged", "libtorch_cpu.so"));
    }

    @Test
    void leftoversOfKilledProcessesAreRemoved() throws IOException {
        Path leftover = root.resolve(FakeLibtorch.FOLDER_NAME + LibtorchCache.TEMPORARY + "1");
        Path older = root.resolve("libtorch-2.6.0-linux-x86_64" + LibtorchCache.TEMPORARY + "2")
                .resolve("deep");
        Path other = root.resolve("features");
        for (Path folder : List.of(leftover, older, other)) {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("libtorch_cpu.so"), "half of it");
        }
        assertIntact(cache().provide(jar.artifact()));
        assertThat(root).isDirectoryNotContaining(file -> file.toString().contains(LibtorchCache.TEMPORARY));
        assertThat(other.resolve("libtorch_cpu.so")).exists();
    }

    @Test
    void librariesOfAnEarlierVersionAreHashedOnce() throws IOException {
        Path folder = cache().provide(jar.artifact()).folder();
        Files.delete(folder.resolve(LibtorchManifest.VERIFIED));
        progress.clear();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(progress).singleElement().asString().has(facts("verifying"));
        progress.clear();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(progress).isEmpty();
    }

    private LibtorchCache cache() {
        return new LibtorchCache(root, Disk.REAL, progress::add);
    }

    /** The libraries are all there, checksums agree, and nothing else but the lock lies beside them. */
    private void assertIntact(LibtorchFolder found) throws IOException {
        for (String library : FakeLibtorch.LIBRARIES.keySet()) {
            assertThat(found.folder().resolve(library)).hasBinaryContent(FakeLibtorch.bytes(library));
        }
        assertThat(found.hasChecksums()).isTrue();
        assertThat(found.verifyChecksums()).isEmpty();
        assertThat(root).isDirectoryNotContaining(file -> file.toString().contains(LibtorchCache.TEMPORARY));
    }

    private Map<Path, FileTime> times() throws IOException {
        Map<Path, FileTime> times = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.toList()) {
                times.put(file, Files.getLastModifiedTime(file));
            }
        }
        return times;
    }
}
