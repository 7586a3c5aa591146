package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.gramian.tensor.library.LibtorchCache.Disk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads, class loaders and processes that start together end with one intact folder. */
@Timeout(120)
final class LibtorchCacheConcurrencyTest {
    @TempDir
    private Path temporary;

    private final ConcurrentLinkedQueue<String> progress = new ConcurrentLinkedQueue<>();
    private Path root;
    private FakeLibtorch jar;

    @BeforeEach
    void packAJar() throws IOException {
        root = temporary.resolve("cache");
        jar = FakeLibtorch.jar(temporary.resolve("libtorch.jar"));
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
        assertOneIntactFolder();
    }

    @Test
    void killedProcessLeavesNeitherLockNorFiles() throws Exception {
        Path signal = Files.createDirectory(temporary.resolve("signal"));
        Files.writeString(signal.resolve("go"), "");
        Path log = temporary.resolve("log");
        Process process =
                UnpackingProcess.start(log, jar.location().toString(), root.toString(), signal.toString(), "stall");
        try {
            await(() -> (Files.isDirectory(root) && count(root) == 2) || !process.isAlive());
            assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
        assertThat(root).isDirectoryContaining(file -> file.toString().contains(LibtorchCache.TEMPORARY));
        cache().provide(jar.artifact());
        assertOneIntactFolder();
    }

    @Test
    void lockHeldInThisJvmIsAwaited() throws Exception {
        Files.createDirectories(root);
        try (FileChannel other = FileChannel.open(
                        root.resolve("libtorch.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            var lock = other.lock();
            Future<LibtorchFolder> waiting = executor.submit(() -> cache().provide(jar.artifact()));
            await(() -> !progress.isEmpty());
            assertThat(progress.peek()).has(facts(root.toString()));
            assertThat(waiting.isDone()).isFalse();
            lock.release();
            waiting.get(60, TimeUnit.SECONDS);
        }
        assertOneIntactFolder();
    }

    private LibtorchCache cache() {
        return new LibtorchCache(root, Disk.REAL, progress::add);
    }

    private void assertOneIntactFolder() throws IOException {
        try (Stream<Path> files = Files.list(root)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            FakeLibtorch.FOLDER_NAME, FakeLibtorch.FOLDER_NAME + ".lock", "libtorch.lock");
        }
        progress.clear();
        LibtorchFolder found = cache().provide(jar.artifact());
        assertThat(progress).isEmpty();
        assertThat(found.verifyChecksums()).isEmpty();
        for (String library : FakeLibtorch.LIBRARIES.keySet()) {
            assertThat(found.folder().resolve(library)).hasBinaryContent(FakeLibtorch.bytes(library));
        }
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
}
