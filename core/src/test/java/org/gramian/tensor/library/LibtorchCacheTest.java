package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.gramian.basis.DiskSpace;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Libraries are unpacked once by any number of processes; damage and failures are found, repaired or reported. */
@Timeout(120)
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

    /** A missing library or manifest, invalid manifests, and a file in place of the folder. */
    @Test
    void damagedFolderIsRepaired() throws IOException {
        Path folder = cache().provide(jar.artifact()).folder();
        for (String name : List.of("libc10.so", LibtorchFolder.Manifest.FILE_NAME)) {
            Files.delete(folder.resolve(name));
            assertIntact(cache().provide(jar.artifact()));
        }
        for (String text : List.of("", "libc10.so\t12", "libc10.so\tmany\tabc\n", "\0\0\0\0")) {
            Files.writeString(folder.resolve(LibtorchFolder.Manifest.FILE_NAME), text);
            assertIntact(cache().provide(jar.artifact()));
        }
        Files.move(folder, temporary.resolve("away"));
        Files.writeString(folder, "no folder");
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
    void cachePathThatIsAFileIsReported() throws IOException {
        Files.writeString(root, "a file");
        assertRejected(LibtorchException.class, () -> cache().provide(jar.artifact()), root, "GRAMIAN_CACHE");
    }

    @Test
    void folderWithoutWritePermissionIsReported() throws IOException {
        Files.createDirectory(root);
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeFalse(Files.isWritable(root), "this user may write anywhere");
        for (Path folder : List.of(root, root.resolve("below"))) {
            assertRejected(
                    LibtorchException.class,
                    () -> new LibtorchCache(folder, progress::add).provide(jar.artifact()),
                    folder.toString(),
                    root,
                    "GRAMIAN_CACHE");
        }
    }

    @Test
    void readOnlyFolderWithUnpackedLibrariesIsUsed() throws IOException {
        LibtorchFolder unpacked = cache().provide(jar.artifact());
        Files.delete(root.resolve("libtorch.lock"));
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("r-xr-xr-x"));
        assertThat(cache().provide(jar.artifact())).isEqualTo(unpacked);
        assertThat(root.resolve("libtorch.lock")).doesNotExist();
    }

    @Test
    void flippedBitInTheJarIsDetected() throws IOException {
        byte[] bytes = Files.readAllBytes(jar.location());
        LibtorchArtifact artifact = jar.artifact();
        // The library is random, hence stored nearly verbatim, and fills most of the jar.
        bytes[bytes.length / 2] ^= 4;
        Files.write(jar.location(), bytes);
        assertRejected(LibtorchException.class, () -> cache().provide(artifact), "libtorch_cpu.so", "CRC-32");
        assertThat(root).isDirectoryNotContaining(file -> file.toString().contains("libtorch-"));
    }

    @Test
    void tooLittleFreeSpaceIsReportedBeforeUnpacking() throws IOException {
        FakeLibtorch folder = FakeLibtorch.folder(temporary.resolve("classes"), "linux-x86_64");
        Path library = folder.location().resolve("pytorch/cpu/linux-x86_64/libtorch_cpu.so");
        try (RandomAccessFile sparse = new RandomAccessFile(library.toFile(), "rw")) {
            sparse.setLength(DiskSpace.usable(temporary) + (1L << 40));
        }
        assertRejected(
                LibtorchException.class, () -> cache().provide(folder.artifact()), root, "free", "GRAMIAN_CACHE");
        assertThat(progress).isEmpty();
        assertThat(root).isDirectoryNotContaining(file -> file.toString().contains("libtorch-"));
    }

    @Test
    void processesUnpackOnce() throws Exception {
        Path signal = Files.createDirectory(temporary.resolve("signal"));
        List<Path> logs = new ArrayList<>();
        List<Process> processes = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                logs.add(temporary.resolve("log-" + i));
                processes.add(UnpackingProcess.start(
                        logs.getLast(), jar.location().toString(), root.toString(), signal.toString()));
            }
            await(() -> count(signal) == processes.size() || processes.stream().anyMatch(p -> !p.isAlive()));
            Files.writeString(signal.resolve("go"), "");
            for (int i = 0; i < processes.size(); i++) {
                assertThat(processes.get(i).waitFor())
                        .as(Files.readString(logs.get(i)))
                        .isZero();
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
        StringBuilder output = new StringBuilder();
        for (Path log : logs) {
            output.append(Files.readString(log));
        }
        assertThat(output.toString().split("unpacking libtorch 2", -1))
                .as(output.toString())
                .hasSize(2);
        progress.clear();
        assertIntact(cache().provide(jar.artifact()));
        assertThat(progress).isEmpty();
    }

    private static void await(Callable<Boolean> condition) throws Exception {
        while (!condition.call()) {
            Thread.sleep(5);
        }
    }

    private static long count(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.count();
        }
    }

    private LibtorchCache cache() {
        return new LibtorchCache(root, progress::add);
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
}
