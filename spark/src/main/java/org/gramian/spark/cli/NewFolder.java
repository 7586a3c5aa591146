package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A folder that this command began, and that is removed unless it gets whole. While it is written a mark lies in it, which readers of
 * tables do not see: so neither what was there before nor what another job began there meanwhile is taken for this one's.
 */
final class NewFolder implements AutoCloseable {
    private static final String MARK = "_gramian-writes";

    private final Path folder;
    private final FileSystem files;
    private final String owner = UUID.randomUUID().toString();
    private boolean whole;

    private NewFolder(Path folder, Configuration hadoop) throws IOException {
        this.folder = folder;
        this.files = folder.getFileSystem(hadoop);
    }

    /**
     * Makes it.
     *
     * @param replace whether an existing folder is removed
     * @throws IllegalArgumentException if something is there that is not to be replaced
     */
    static NewFolder begin(String place, boolean replace, Configuration hadoop) throws IOException {
        NewFolder begun = new NewFolder(new Path(place), hadoop);
        if (replace) {
            begun.files.delete(begun.folder, true);
        }
        requireNothing(place, hadoop);
        try (FSDataOutputStream mark = begun.files.create(begun.mark(), false)) {
            mark.writeUTF(begun.owner);
        } catch (FileAlreadyExistsException _) { // another was faster by a moment
            throw occupied(place);
        }
        return begun;
    }

    /** @throws IllegalArgumentException if something is there */
    static void requireNothing(String place, Configuration hadoop) throws IOException {
        Path folder = new Path(place);
        if (folder.getFileSystem(hadoop).exists(folder)) {
            throw occupied(place);
        }
    }

    private static IllegalArgumentException occupied(String place) {
        return new IllegalArgumentException(
                "--out: expected a path that does not exist, found " + place + "; choose another, or use --overwrite");
    }

    /** Tells that nothing is missing. */
    void keep() throws IOException {
        files.delete(mark(), false);
        whole = true;
    }

    private Path mark() {
        return new Path(folder, MARK);
    }

    private boolean isOurs() throws IOException {
        try (FSDataInputStream mark = files.open(mark())) {
            return mark.readUTF().equals(owner);
        } catch (FileNotFoundException _) {
            return false; // another job has replaced it
        }
    }

    @Override
    public void close() throws IOException {
        if (!whole && isOurs()) {
            files.delete(folder, true);
        }
    }
}
