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
import org.jspecify.annotations.Nullable;

/**
 * Shared lock on a folder in use, which {@link #exclusively} respects, in this process and others.
 *
 * <p>It is a shared lock of the operating system on the empty file {@code FOLDER.lock} beside the folder, so it ends with the
 * process. That file is never deleted: a deleted one could be locked twice. On a read-only file system, or one without locks,
 * a folder is used without a lock, and {@link #exclusively} never runs its action.
 */
public final class SharedFolderLock implements AutoCloseable {
    private static final String SUFFIX = ".lock";

    /** One channel for all users in this process: locks are lost when any channel on the file is closed. */
    private static final Map<Path, Users> OPEN = new HashMap<>();

    /** Users of one folder in this process. */
    private static final class Users {
        private final @Nullable FileChannel channel;
        private int count;

        Users(@Nullable FileChannel channel) {
            this.channel = channel;
        }
    }

    /** Work under an exclusive lock on a folder. */
    @FunctionalInterface
    public interface Action {
        void run() throws IOException;
    }

    private final Path file;
    private boolean closed;

    private SharedFolderLock(Path file) {
        this.file = file;
    }

    /** Marks a folder as in use, waiting while another process deletes from it. The folder need not exist, its parent must. */
    public static SharedFolderLock of(Path folder) throws IOException {
        Path file = file(folder);
        synchronized (OPEN) {
            Users users = OPEN.get(file);
            if (users == null) {
                users = new Users(shared(file));
                OPEN.put(file, users);
            }
            users.count++;
        }
        return new SharedFolderLock(file);
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

    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            Users users = OPEN.get(file);
            if (closed || users == null) {
                return;
            }
            closed = true;
            users.count--;
            if (users.count == 0) {
                OPEN.remove(file);
                if (users.channel != null) {
                    users.channel.close(); // and with it the lock
                }
            }
        }
    }
}
