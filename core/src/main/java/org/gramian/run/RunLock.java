package org.gramian.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Lock of a run's folder against a second run, which would overwrite its files. The operating system releases it when the process
 * dies.
 */
final class RunLock implements AutoCloseable {
    /** Never deleted: a deleted one could be locked twice. */
    static final String FILE = ".lock";

    /** Locks of the operating system belong to the process and are lost when any channel on the file is closed. */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    private final Path folder;
    private final FileChannel channel;

    private RunLock(Path folder, FileChannel channel) {
        this.folder = folder;
        this.channel = channel;
    }

    static RunLock take(Path folder) throws IOException {
        Path real = folder.toRealPath();
        if (!OURS.add(real)) {
            throw taken(folder);
        }
        RunLock lock = null;
        try {
            lock = locked(folder, real);
            return lock;
        } finally {
            if (lock == null) {
                OURS.remove(real);
            }
        }
    }

    private static RunLock locked(Path folder, Path real) throws IOException {
        FileChannel channel = FileChannel.open(real.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (attempt(channel) == null) {
            channel.close();
            throw taken(folder);
        }
        return new RunLock(real, channel);
    }

    private static @Nullable FileLock attempt(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException _) {
            return null; // held in this process by a class of another loader
        }
    }

    private static IllegalStateException taken(Path folder) {
        return new IllegalStateException(
                folder + ": another run is using this folder; wait until it ends, or choose another folder");
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close(); // and with it the lock
        } finally {
            OURS.remove(folder);
        }
    }
}
