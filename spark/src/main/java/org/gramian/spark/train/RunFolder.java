package org.gramian.spark.train;

import java.io.IOException;
import java.nio.file.Files;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.gramian.basis.QuotedText;
import org.gramian.model.ModelFileException;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Settings;
import org.jspecify.annotations.Nullable;

/**
 * A run's folder in any file system, with a passing folder on this machine in which its small files are read and written: core
 * knows files of this machine only.
 */
final class RunFolder implements AutoCloseable {
    static final String MODEL = "model.safetensors";
    static final String CHECKPOINT = "checkpoint.safetensors";
    static final String HISTORY = "history.csv";
    static final String CONFIG = "config.yaml";
    private static final String GROUPS = "groups";

    private final Path path;
    private final Configuration hadoop;
    private final FileSystem files;
    private final java.nio.file.Path here;
    private @Nullable FileContext context;

    private RunFolder(Path path, Configuration hadoop) throws IOException {
        this.hadoop = hadoop;
        this.files = path.getFileSystem(hadoop);
        this.path = files.makeQualified(path);
        this.here = Files.createTempDirectory("gramian-train-");
    }

    /**
     * Opens, and makes where it is not there.
     *
     * @param resume whether a run that was begun may lie there
     * @throws IOException if one does, and may not
     */
    static RunFolder open(String folder, boolean resume, Configuration hadoop) throws IOException {
        RunFolder opened = new RunFolder(new Path(folder), hadoop);
        try {
            if (!resume && opened.has(CONFIG)) {
                throw new IOException(opened.path
                        + ": expected a folder for a new run, found an existing run; resume it with --resume, or choose"
                        + " another folder");
            }
            opened.files.mkdirs(opened.path);
            return opened;
        } catch (IOException | RuntimeException failed) {
            opened.close();
            throw failed;
        }
    }

    /** A path within it, as Spark takes it. */
    String path(String name) {
        return new Path(path, name).toString();
    }

    boolean has(String name) throws IOException {
        return files.exists(new Path(path, name));
    }

    void remove(String name) throws IOException {
        files.delete(new Path(path, name), false);
    }

    /** A file on this machine with what the folder has under the name; not there where it has nothing. */
    java.nio.file.Path fetch(String name) throws IOException {
        java.nio.file.Path local = here.resolve(name);
        if (has(name)) {
            files.copyToLocalFile(false, new Path(path, name), new Path(local.toUri()), true);
        }
        return local;
    }

    /**
     * How many groups the shards of this run make, which decides the order of additions: as many as it was begun with, though the
     * executors of a run that goes on are not all there yet; more where there are more cores now.
     *
     * @param cores that are there
     */
    int groups(int cores) throws IOException {
        java.nio.file.Path local = fetch(GROUPS);
        String kept = Files.exists(local) ? Files.readString(local).strip() : "0";
        if (!kept.matches("\\d{1,6}")) {
            throw new IOException(path(GROUPS) + ": expected a number of groups, found " + QuotedText.text(kept)
                    + "; remove the file; the last bits may then differ from an uninterrupted run");
        }
        int groups = Math.max(Integer.parseInt(kept), cores);
        put(Files.writeString(local, groups + "\n"));
        return groups;
    }

    /** A problem with a file of the passing folder, told of the one that it is a copy of. */
    IOException named(IOException failed) {
        String message = String.valueOf(failed.getMessage());
        if (!message.startsWith(here + "/")) {
            return failed;
        }
        String name = message.substring(here.toString().length() + 1).replaceFirst(": .*", "");
        return failed instanceof ModelFileException wrong
                ? new ModelFileException(path(name), wrong)
                : new IOException(path + message.substring(here.toString().length()), failed);
    }

    /** Writes down every value of the configuration. */
    void keep(Settings settings) throws IOException {
        java.nio.file.Path local = here.resolve(CONFIG);
        ConfigFile.write(local, settings);
        put(local);
    }

    /** Puts a file of this machine there under its name, whole or not at all. */
    void put(java.nio.file.Path local) throws IOException {
        Path target = new Path(path, local.getFileName().toString());
        Path draft = new Path(path, "." + local.getFileName() + ".draft");
        files.copyFromLocalFile(false, true, new Path(local.toUri()), draft);
        try {
            // By this interface a file is replaced in one step; by that of FileSystem it has to be removed first.
            context().rename(draft, target, Options.Rename.OVERWRITE);
        } catch (UnsupportedFileSystemException _) {
            replace(draft, target);
        }
    }

    /** Made once: each is a client of its own. */
    private FileContext context() throws UnsupportedFileSystemException {
        if (context == null) {
            context = FileContext.getFileContext(path.toUri(), hadoop);
        }
        return context;
    }

    /** For stores that FileContext does not know. A driver that dies in the midst of it leaves neither: its work begins anew. */
    private void replace(Path draft, Path target) throws IOException {
        files.delete(target, false);
        if (!files.rename(draft, target)) {
            throw new IOException(target + ": the file system cannot rename " + draft + " to this path");
        }
    }

    @Override
    public void close() throws IOException {
        try (Stream<java.nio.file.Path> all = Files.list(here)) {
            for (java.nio.file.Path file : all.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(here);
    }
}
