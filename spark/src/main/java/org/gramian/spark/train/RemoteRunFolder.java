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
 * Run folder in any Hadoop file system, with a temporary local folder for its small files: core reads and writes local files
 * only.
 */
final class RemoteRunFolder implements AutoCloseable {
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

    private RemoteRunFolder(Path path, Configuration hadoop) throws IOException {
        this.hadoop = hadoop;
        this.files = path.getFileSystem(hadoop);
        this.path = files.makeQualified(path);
        this.here = Files.createTempDirectory("gramian-train-");
    }

    /**
     * Opens a run folder, creating it if missing.
     *
     * @param resume whether the folder may contain an unfinished run
     * @throws IOException if the folder contains a run and {@code resume} is false
     */
    static RemoteRunFolder open(String folder, boolean resume, Configuration hadoop) throws IOException {
        RemoteRunFolder opened = new RemoteRunFolder(new Path(folder), hadoop);
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

    /** Returns the path of a file, as Spark expects it. */
    String path(String name) {
        return new Path(path, name).toString();
    }

    boolean has(String name) throws IOException {
        return files.exists(new Path(path, name));
    }

    void remove(String name) throws IOException {
        files.delete(new Path(path, name), false);
    }

    /** Copies a file to the local folder and returns its path, which does not exist if the file is missing. */
    java.nio.file.Path fetch(String name) throws IOException {
        java.nio.file.Path local = here.resolve(name);
        if (has(name)) {
            files.copyToLocalFile(false, new Path(path, name), new Path(local.toUri()), true);
        }
        return local;
    }

    /**
     * Returns the number of groups of shards, which determines the order of summation: that of the first start, as not all
     * executors may be available yet when a run resumes, or the number of cores if there are more now.
     *
     * @param cores available
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

    /** Replaces the local path in an error message by the path in the run folder. */
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

    /** Writes the configuration. */
    void keep(Settings settings) throws IOException {
        java.nio.file.Path local = here.resolve(CONFIG);
        ConfigFile.write(local, settings);
        put(local);
    }

    /** Copies a local file to the run folder atomically. */
    void put(java.nio.file.Path local) throws IOException {
        Path target = new Path(path, local.getFileName().toString());
        Path draft = new Path(path, "." + local.getFileName() + ".draft");
        files.copyFromLocalFile(false, true, new Path(local.toUri()), draft);
        try {
            // FileContext replaces a file in one step; FileSystem requires deleting it first.
            context().rename(draft, target, Options.Rename.OVERWRITE);
        } catch (UnsupportedFileSystemException _) {
            replace(draft, target);
        }
    }

    /** Returns the context, created once: each is a client of its own. */
    private FileContext context() throws UnsupportedFileSystemException {
        if (context == null) {
            context = FileContext.getFileContext(path.toUri(), hadoop);
        }
        return context;
    }

    /** Replaces a file in stores without FileContext. If the driver dies in between, the file is missing and its work restarts. */
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
