package org.gramian.spark.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.gramian.spark.train.LocalPathCheck;

/** Checks that a replaced output folder, which is removed first, holds none of the inputs. */
final class Overlap {
    private Overlap() {}

    /**
     * Looks at places as they are meant: patterns by what they match, and on this machine links by where they lead. Images that the
     * rows of a table name are not looked at.
     *
     * @param replaced folder to be removed
     * @param read what must stay
     * @throws IllegalArgumentException if one is the other, or within it
     */
    static void refuse(String replaced, List<String> read, Configuration hadoop) throws IOException {
        Path target = real(new Path(replaced), hadoop);
        for (String place : read) {
            for (Path meant : meant(place, hadoop)) {
                if (isWithin(meant, target) || isWithin(target, meant)) {
                    throw new IllegalArgumentException("--out: expected a path outside the input, found " + replaced
                            + ", and " + place + " as input: --overwrite would remove it; choose another path");
                }
            }
        }
    }

    private static List<Path> meant(String place, Configuration hadoop) throws IOException {
        Path path = new Path(place);
        FileSystem files = path.getFileSystem(hadoop);
        FileStatus[] matched = files.exists(path) ? null : files.globStatus(path);
        if (matched == null) {
            return List.of(real(path, hadoop));
        }
        Path[] found = Arrays.stream(matched).map(FileStatus::getPath).toArray(Path[]::new);
        for (int i = 0; i < found.length; i++) {
            found[i] = real(found[i], hadoop);
        }
        return List.of(found);
    }

    /** The whole address; of this machine's files with links followed, as far as there is something. */
    private static Path real(Path place, Configuration hadoop) throws IOException {
        FileSystem files = place.getFileSystem(hadoop);
        Path whole = files.makeQualified(place);
        if (!LocalPathCheck.SCHEME.equals(whole.toUri().getScheme())) {
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
