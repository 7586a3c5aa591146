package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.gramian.image.dataset.layout.PictureNames;

/**
 * The pictures that places name, in any file system that Hadoop knows: files themselves, all pictures of folders at any depth, and
 * what patterns like {@code photos/2024-*} match. Spark's own {@code binaryFile} is not used: it leaves empty files out without a
 * word, where each should be a row with its reason.
 *
 * @param pictures their full paths; those of a folder sorted
 * @param others how many files of folders were left out since their names are no pictures'
 */
record FileListing(List<String> pictures, long others) {
    /**
     * Lists places.
     *
     * @throws IOException if there is nothing at a place, or no picture in all of them
     */
    static FileListing of(List<String> places, Configuration hadoop) throws IOException {
        List<String> pictures = new ArrayList<>();
        long others = 0;
        for (String place : places) {
            for (FileStatus found : found(place, hadoop)) {
                if (found.isFile()) {
                    pictures.add(found.getPath().toString());
                } else {
                    others += addFolder(found.getPath(), hadoop, pictures);
                }
            }
        }
        if (pictures.isEmpty()) {
            throw new FileNotFoundException("expected pictures in " + String.join(", ", places) + ", found none, and "
                    + others + " other files");
        }
        return new FileListing(Collections.unmodifiableList(pictures), others);
    }

    /** What a place means: first of all what bears its very name, for names may hold the signs of patterns. */
    private static FileStatus[] found(String place, Configuration hadoop) throws IOException {
        Path path = new Path(place);
        FileSystem files = path.getFileSystem(hadoop);
        if (files.exists(path)) {
            return new FileStatus[] {files.getFileStatus(path)};
        }
        FileStatus[] matched = files.globStatus(path);
        if (matched == null || matched.length == 0) {
            throw new FileNotFoundException(place + ": there is no such file or folder, nor does such a pattern match");
        }
        return matched;
    }

    private static long addFolder(Path folder, Configuration hadoop, List<String> pictures) throws IOException {
        List<String> inside = new ArrayList<>();
        long others = 0;
        // One listing of all that is below, which stores of objects answer a thousand names at a time.
        RemoteIterator<LocatedFileStatus> all = folder.getFileSystem(hadoop).listFiles(folder, true);
        while (all.hasNext()) {
            Path file = all.next().getPath();
            if (PictureNames.isPicture(file.getName()) && !inHiddenFolder(file, folder)) {
                inside.add(file.toString());
            } else {
                others++;
            }
        }
        Collections.sort(inside);
        pictures.addAll(inside);
        return others;
    }

    private static boolean inHiddenFolder(Path file, Path top) {
        Path at = file.getParent();
        while (at != null && at.depth() > top.depth()) {
            if (PictureNames.isHidden(at.getName())) {
                return true;
            }
            at = at.getParent();
        }
        return false;
    }
}
