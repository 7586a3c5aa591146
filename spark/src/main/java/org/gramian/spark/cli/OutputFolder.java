package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Output folder of a command, removed on failure. While it is written it contains a marker file, which readers of tables ignore, so
 * that neither older output nor that of another job is removed.
 */
final class OutputFolder implements AutoCloseable {
    /** URI scheme of local paths. */
    static final String LOCAL_SCHEME = "file";

    private static final String MARK = "_gramian-writes";

    private final Path folder;
    private final FileSystem files;
    private final String owner = UUID.randomUUID().toString();
    private boolean complete;

    private OutputFolder(Path folder, Configuration hadoop) throws IOException {
        this.folder = folder;
        this.files = folder.getFileSystem(hadoop);
    }

    /**
     * Creates the folder.
     *
     * @param replace whether an existing folder is removed
     * @throws IllegalArgumentException if the path exists and must not be replaced
     */
    static OutputFolder begin(String place, boolean replace, Configuration hadoop) throws IOException {
        OutputFolder begun = new OutputFolder(new Path(place), hadoop);
        if (replace) {
            begun.files.delete(begun.folder, true);
        }
        requireMissing(place, hadoop);
        try (FSDataOutputStream mark = begun.files.create(begun.mark(), false)) {
            mark.writeUTF(begun.owner);
        } catch (FileAlreadyExistsException _) { // another job was faster
            throw occupied(place);
        }
        return begun;
    }

    static void requireMissing(String place, Configuration hadoop) throws IOException {
        Path folder = new Path(place);
        if (folder.getFileSystem(hadoop).exists(folder)) {
            throw occupied(place);
        }
    }

    private static IllegalArgumentException occupied(String place) {
        return new IllegalArgumentException(
                "--out: expected a path that does not exist, found " + place + "; choose another, or use --overwrite");
    }

    /** Marks the folder as complete. */
    void keep() throws IOException {
        files.delete(mark(), false);
        complete = true;
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
        if (!complete && isOurs()) {
            files.delete(folder, true);
        }
    }

    /**
     * Checks that a replaced folder, which is removed first, does not overlap the inputs. Resolves patterns and local links; does not
     * check images that the rows of a table name.
     *
     * @param replaced folder to be removed
     * @param read input paths
     * @throws IllegalArgumentException if one contains the other
     */
    static void requireNoOverlap(String replaced, List<String> read, Configuration hadoop) throws IOException {
        Path target = real(new Path(replaced), hadoop);
        for (String place : read) {
            for (Path input : resolved(place, hadoop)) {
                if (isWithin(input, target) || isWithin(target, input)) {
                    throw new IllegalArgumentException("--out: expected a path outside the input, found " + replaced
                            + ", and " + place + " as input: --overwrite would remove it; choose another path");
                }
            }
        }
    }

    private static List<Path> resolved(String place, Configuration hadoop) throws IOException {
        Path path = new Path(place);
        FileSystem files = path.getFileSystem(hadoop);
        FileStatus[] matched = files.exists(path) ? null : files.globStatus(path);
        if (matched == null) {
            return List.of(real(path, hadoop));
        }
        List<Path> found = new ArrayList<>();
        for (FileStatus each : matched) {
            found.add(real(each.getPath(), hadoop));
        }
        return found;
    }

    /** Returns the qualified path; for local files, with links resolved as far as the path exists. */
    private static Path real(Path place, Configuration hadoop) throws IOException {
        FileSystem files = place.getFileSystem(hadoop);
        Path whole = files.makeQualified(place);
        if (!LOCAL_SCHEME.equals(whole.toUri().getScheme())) {
            return whole;
        }
        java.nio.file.Path there = java.nio.file.Path.of(whole.toUri().getPath());
        java.nio.file.Path existing = there;
        while (existing.getParent() != null && Files.notExists(existing)) {
            existing = existing.getParent();
        }
        java.nio.file.Path real = existing.toRealPath().resolve(existing.relativize(there));
        return files.makeQualified(new Path(real.toString()));
    }

    private static boolean isWithin(Path inner, Path outer) {
        for (Path at = inner; at != null; at = at.getParent()) {
            if (at.equals(outer)) {
                return true;
            }
        }
        return false;
    }
}
