package org.gramian.tensor.library;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets one holder at a time work on a cache folder: one thread of one process.
 *
 * @param file the lock file, created if missing and never deleted, for a deleted one could be locked twice
 * @param onWait told once if another process holds the lock
 */
record CacheLock(Path file, Runnable onWait) {
    private static final long RETRY_MILLIS = 20;

    /** Runs a task while holding the lock. */
    <T> T hold(Supplier<T> task) throws IOException {
        // Locks of the operating system belong to the process and are lost when any channel on the file is closed, so
        // the threads of this process must take turns before they open one. An interned string is the same object
        // for every class loader, which a static field is not.
        synchronized (("org.gramian.tensor.CacheLock:" + file).intern()) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = acquire(channel)) {
                assert lock.isValid();
                return task.get();
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
            // Held in this process under another name of the same file, which the turns above cannot know.
            return null;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LibtorchException("interrupted while waiting for another process that unpacks libtorch", e);
        }
    }
}
