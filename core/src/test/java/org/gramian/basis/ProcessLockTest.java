package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ProcessLockTest {
    @TempDir
    private Path folder = Path.of("");

    private static ProcessLock lock(Path file, Runnable onWait) {
        return new ProcessLock(file, onWait);
    }

    @Test
    void exceptionOfTaskIsThrownAndLockReleased() throws IOException {
        ProcessLock lock = lock(folder.resolve("lock"), () -> {});
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> lock.hold(() -> {
                    throw new IllegalStateException("mine");
                }));
        assertThat(lock.hold(() -> 3)).isEqualTo(3);
    }

    /** Another name of the same file is refused by the operating system, as another process is. */
    @Test
    void interruptEndsWaitAndWaitWasReported() throws IOException {
        Path file = Files.createFile(folder.resolve("lock"));
        Path other = Files.createSymbolicLink(folder.resolve("other"), file);
        List<String> messages = new ArrayList<>();
        try {
            lock(file, () -> {}).hold(() -> {
                ProcessLock second = lock(other, () -> {
                    messages.add("waiting");
                    Thread.currentThread().interrupt();
                });
                assertRejected(InterruptedIOException.class, () -> second.hold(() -> messages.add("held")));
                return messages;
            });
        } catch (IOException e) {
            // The interrupted thread may not use the channel any more, so that giving the lock back can fail.
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
        assertThat(messages).containsExactly("waiting");
    }
}
