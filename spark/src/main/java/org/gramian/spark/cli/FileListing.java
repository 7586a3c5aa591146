package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.gramian.image.ImageFormat;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;

/**
 * Images of files, folders (at any depth) and glob patterns, as {@code photos/2024-*}, in any Hadoop file system. Spark's own {@code
 * binaryFile} omits empty files, which here are rows with an error.
 *
 * @param images full paths; those of a folder sorted
 * @param remarks sentences about skipped files
 */
record FileListing(List<String> images, List<String> remarks) {
    /**
     * Lists places.
     *
     * @throws IOException if a place does not exist, or a folder has no image
     */
    static FileListing of(List<String> places, Configuration hadoop) throws IOException {
        FileListing listing = new FileListing(new ArrayList<>(), new ArrayList<>());
        for (String place : places) {
            for (FileStatus found : found(place, hadoop)) {
                if (found.isFile()) {
                    listing.images.add(found.getPath().toString());
                } else {
                    listing.addFolder(found.getPath(), hadoop);
                }
            }
        }
        return new FileListing(
                Collections.unmodifiableList(listing.images), Collections.unmodifiableList(listing.remarks));
    }

    /** Resolves a place: a file of that very name comes first, since names may contain pattern characters. */
    private static FileStatus[] found(String place, Configuration hadoop) throws IOException {
        Path path = new Path(place);
        FileSystem files = path.getFileSystem(hadoop);
        if (files.exists(path)) {
            return new FileStatus[] {files.getFileStatus(path)};
        }
        FileStatus[] matched = files.globStatus(path);
        if (matched == null || matched.length == 0) {
            throw new FileNotFoundException(place + ": no such file or folder, and no match as a pattern");
        }
        return matched;
    }

    private void addFolder(Path folder, Configuration hadoop) throws IOException {
        FileSystem files = folder.getFileSystem(hadoop);
        if (files instanceof LocalFileSystem local) {
            addLocal(local.pathToFile(folder).toPath());
        } else {
            addRemote(folder, files);
        }
    }

    /** Lists as on one machine: Hadoop would skip broken links, and start a process for the permissions of each file. */
    private void addLocal(java.nio.file.Path folder) throws IOException {
        Dataset inside = new Flat().read(folder);
        for (Sample sample : inside.samples()) {
            images.add(new Path("file", null, sample.file().toString()).toString());
        }
        inside.notes().stream().map(Note::text).forEach(remarks::add);
    }

    /** Lists recursively in one call, which object stores answer a thousand names at a time. */
    private void addRemote(Path folder, FileSystem files) throws IOException {
        List<String> inside = new ArrayList<>();
        long others = 0;
        RemoteIterator<LocatedFileStatus> all = files.listFiles(folder, true);
        while (all.hasNext()) {
            Path file = all.next().getPath();
            if (ImageFormat.isImage(file.getName()) && !inHiddenFolder(file, folder)) {
                inside.add(file.toString());
            } else {
                others++;
            }
        }
        if (inside.isEmpty()) {
            throw new FileNotFoundException(folder + ": expected images in this folder or below it, found none, and "
                    + others + " other files");
        }
        if (others > 0) {
            remarks.add(String.format(
                    Locale.ROOT,
                    "%,d files were skipped: hidden, or without an image extension; a table of paths can name any file",
                    others));
        }
        Collections.sort(inside);
        images.addAll(inside);
    }

    private static boolean inHiddenFolder(Path file, Path top) {
        Path at = file.getParent();
        while (at != null && at.depth() > top.depth()) {
            if (ImageFormat.isHidden(at.getName())) {
                return true;
            }
            at = at.getParent();
        }
        return false;
    }
}
