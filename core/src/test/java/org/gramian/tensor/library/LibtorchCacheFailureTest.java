package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.gramian.tensor.library.LibtorchCache.Disk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Full disks, read-only folders and damaged artifacts: each a message that names the path and the way out. */
final class LibtorchCacheFailureTest {
    @TempDir
    private Path temporary;

    private Path root;
    private FakeLibtorch jar;

    @BeforeEach
    void packAJar() throws IOException {
        root = temporary.resolve("cache");
        jar = FakeLibtorch.jar(temporary.resolve("libtorch.jar"));
    }

    @Test
    void tooLittleSpaceIsReportedBeforeWriting() {
        Disk small = new Disk() {
            @Override
            public long usableSpace(Path folder) {
                return 2_000_000;
            }

            @Override
            public OutputStream create(Path file) throws IOException {
                throw new IOException("must not be reached");
            }
        };
        assertRejected(
                LibtorchException.class, () -> provide(root, small), root.toString(), "4 MB", "2 MB", "GRAMIAN_CACHE");
    }

    @Test
    void fullDiskIsReportedAndPartialFilesRemoved() {
        for (long capacity : List.of(0L, 500L, 2_000_000L, 3_001_077L)) {
            assertRejected(
                    LibtorchException.class,
                    () -> provide(root, FakeLibtorch.thatFillsUpAfter(capacity)),
                    "4 MB",
                    root.toString(),
                    "GRAMIAN_CACHE");
            assertThat(root)
                    .isDirectoryNotContaining(file -> file.toString().contains("libtorch-")
                            && !file.toString().endsWith(".lock"));
        }
        assertThat(provide(root, Disk.REAL).verifyChecksums()).isEmpty();
    }

    @Test
    void cachePathThatIsAFileIsReported() throws IOException {
        Files.writeString(root, "a file");
        assertRejected(LibtorchException.class, () -> provide(root, Disk.REAL), root, "GRAMIAN_CACHE");
    }

    @Test
    void folderWithoutWritePermissionIsReported() throws IOException {
        Files.createDirectory(root);
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeFalse(Files.isWritable(root), "this user may write anywhere");
        for (Path folder : List.of(root, root.resolve("below"))) {
            assertRejected(
                    LibtorchException.class,
                    () -> provide(folder, Disk.REAL),
                    folder.toString(),
                    root,
                    "GRAMIAN_CACHE");
        }
    }

    @Test
    void fileSystemWithoutFoldersIsReported() {
        Path folder = Path.of("/proc/gramian");
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "no /proc here");
        assertRejected(LibtorchException.class, () -> provide(folder, Disk.REAL), "/proc/gramian", "GRAMIAN_CACHE");
    }

    @Test
    void readOnlyFolderWithUnpackedLibrariesIsUsed() throws IOException {
        LibtorchFolder unpacked = provide(root, Disk.REAL);
        Files.delete(root.resolve("libtorch.lock"));
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("r-xr-xr-x"));
        assertThat(provide(root, Disk.REAL)).isEqualTo(unpacked);
        assertThat(root.resolve("libtorch.lock")).doesNotExist();
    }

    @Test
    void flippedBitInTheJarIsDetected() throws IOException {
        byte[] bytes = Files.readAllBytes(jar.location());
        LibtorchArtifact artifact = jar.artifact();
        // The library is random, hence stored nearly verbatim, and fills most of the jar.
        bytes[bytes.length / 2] ^= 4;
        Files.write(jar.location(), bytes);
        assertRejected(
                LibtorchException.class,
                () -> new LibtorchCache(root, Disk.REAL, text -> {}).provide(artifact),
                jar.location().toString());
        assertThat(root).isDirectoryNotContaining(file -> file.toString().contains("libtorch-"));
    }

    @Test
    void missingLibraryOfTheArtifactIsReported() throws IOException {
        FakeLibtorch folder = FakeLibtorch.folder(temporary.resolve("classes"), "linux-x86_64");
        Files.delete(folder.location().resolve("pytorch/cpu/linux-x86_64/libc10.so"));
        assertRejected(
                LibtorchException.class,
                () -> new LibtorchCache(root, Disk.REAL, text -> {}).provide(folder.artifact()),
                "libc10.so");
    }

    private LibtorchFolder provide(Path folder, Disk disk) {
        return new LibtorchCache(folder, disk, text -> {}).provide(jar.artifact());
    }
}
