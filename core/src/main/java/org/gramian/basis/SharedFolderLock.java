package org.gramian.basis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Shared lock on a folder in use until the process ends, which {@link #exclusively} respects, in this process and others.
 *
 * <p>It is a shared lock of the operating system on the empty file {@code FOLDER.lock} beside the folder. That file is never deleted: a
 * deleted one could be locked twice. On a read-only file system, or one without locks, a folder is used without a lock, and {@link
 * #exclusively} never runs its action.
 */
public final class SharedFolderLock {
    private static final String SUFFIX = ".lock";

    /** One channel for all users in this process: locks are lost when any channel on the file is closed. */
    private static final Map<Path, Optional<FileChannel>> OPEN = new HashMap<>();

    private SharedFolderLock() {}

    /** Work under an exclusive lock on a folder. */
    @FunctionalInterface
    public interface Action {
        void run() throws IOException;
    }

    /** Marks a folder as in use, waiting while another process deletes from it. The folder need not exist, its parent must. */
    public static void hold(Path folder) throws IOException {
        Path file = file(folder);
        synchronized (OPEN) {
            if (!OPEN.containsKey(file)) {
                OPEN.put(file, Optional.ofNullable(shared(file)));
            }
        }
    }

    /**
     * Runs an action while no process has the folder in use.
     *
     * @return false, without running the action, if the folder is in use or cannot be locked
     * @throws IOException if the lock file cannot be opened for writing, or by the action
     */
    public static boolean exclusively(Path folder, Action action) throws IOException {
        Path file = file(folder);
        synchronized (OPEN) {
            if (OPEN.containsKey(file)) {
                return false;
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                if (attempt(channel) == null) {
                    return false;
                }
                action.run();
                return true;
            }
        }
    }

    private static Path file(Path folder) throws IOException {
        Path absolute = folder.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new IOException(folder + ": expected a path inside an existing folder, found none");
        }
        return parent.toRealPath().resolve(absolute.getFileName() + SUFFIX);
    }

    /** Opens the lock file and takes a shared lock; null if it cannot be opened. */
    private static @Nullable FileChannel shared(Path file) {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            channel.lock(0, Long.MAX_VALUE, true);
            return channel;
        } catch (IOException | OverlappingFileLockException _) {
            // Read-only, or without locks; or another class loader of this process holds a lock, which marks the
            // folder too. The channel then stays open: closing it would drop that lock.
            return channel;
        }
    }

    private static @Nullable FileLock attempt(FileChannel channel) {
        try {
            return channel.tryLock();
        } catch (IOException | OverlappingFileLockException _) {
            return null;
        }
    }
}
