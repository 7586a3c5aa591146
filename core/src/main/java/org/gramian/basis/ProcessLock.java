package org.gramian.basis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Exclusive lock between processes and threads.
 *
 * @param file lock file, created if missing and never deleted: a deleted one could be locked twice
 * @param onWait called once if another process holds the lock
 */
public record ProcessLock(Path file, Runnable onWait) {
    private static final long RETRY_MILLIS = 20;

    /** Work under the lock. */
    @FunctionalInterface
    public interface Task<T, E extends Exception> {
        T run() throws E;
    }

    /**
     * Runs a task while holding the lock.
     *
     * @throws InterruptedIOException if the thread is interrupted while it waits for another process
     * @throws IOException if the lock file cannot be created
     */
    public <T, E extends Exception> T hold(Task<T, E> task) throws IOException, E {
        // Locks of the operating system belong to the process and are lost when any channel on the file is closed.
        // An interned string is the same object for every class loader, which a static field is not.
        synchronized (("org.gramian.basis.ProcessLock:" + file).intern()) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = acquire(channel)) {
                assert lock.isValid();
                return task.run();
            }
        }
    }

    private FileLock acquire(FileChannel channel) throws IOException {
        FileLock lock = attempt(channel);
        if (lock == null) {
            onWait.run();
        }
        while (lock == null) {
            pause();
            lock = attempt(channel);
        }
        return lock;
    }

    private static @Nullable FileLock attempt(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // held in this process under another name of the same file
            return null;
        }
    }

    private void pause() throws InterruptedIOException {
        try {
            Thread.sleep(RETRY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted =
                    new InterruptedIOException("interrupted while waiting for another process that holds " + file);
            interrupted.initCause(e);
            throw interrupted;
        }
    }
}
