package org.gramian.basis;

import java.io.IOException;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Atomic writes: a file is written under a temporary name, forced to the disk, and renamed. On failure the temporary file is
 * removed and an existing file is left unchanged.
 */
public final class AtomicFile {
    /** Ending of a file that is being written. */
    public static final String PARTIAL = ".partial";

    private static final String BEGIN = ".gramian-";

    private AtomicFile() {}

    @FunctionalInterface
    public interface Making {
        void makeAt(Path partial) throws IOException;
    }

    @FunctionalInterface
    private interface Step {
        void run() throws IOException;
    }

    /**
     * Writes or replaces a file.
     *
     * @throws FileSystemException with the message {@code FILE: cannot be written ...} for the user
     */
    public static void put(Path path, Making making) throws IOException {
        put(path, making, _ -> {});
    }

    @FunctionalInterface
    public interface TextContent {
        void writeTo(Writer text) throws IOException;
    }

    /** Writes or replaces a text file in UTF-8. */
    public static void putText(Path path, TextContent content) throws IOException {
        put(path, partial -> {
            // newBufferedWriter reports half a surrogate pair instead of writing a question mark
            try (Writer text = Files.newBufferedWriter(partial, StandardOpenOption.CREATE_NEW)) {
                content.writeTo(text);
            } catch (CharacterCodingException e) {
                throw new IOException("expected text that UTF-8 can hold, found half a surrogate pair", e);
            }
        });
    }

    /** Writes or replaces a file after an inspection, whose exceptions are thrown as they are. */
    public static void put(Path path, Making making, Making inspection) throws IOException {
        Path partial = beside(path);
        try {
            named(path, () -> {
                making.makeAt(partial);
                try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
            });
            inspection.makeAt(partial);
            named(path, () -> Files.move(partial, path, StandardCopyOption.ATOMIC_MOVE));
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    /**
     * Checks that a file can be written at a path, by creating and deleting a partial file.
     *
     * @throws FileSystemException as {@link #put} would
     */
    public static void require(Path path) throws FileSystemException {
        Path partial = beside(path);
        named(path, () -> Files.delete(Files.createFile(partial)));
    }

    /** Rejects an output whose name has another ending, which may be an image or a model. */
    public static void requireEnding(String option, @Nullable Path output, String ending) {
        if (output != null && !output.toString().toLowerCase(Locale.ROOT).endsWith(ending)) {
            throw new IllegalArgumentException(
                    option + ": expected a file name that ends with " + ending + ", found " + output);
        }
    }

    /**
     * Checks before the work that an output of a command can be written and is none of its inputs.
     *
     * @param output absent if the option is not given
     */
    public static void require(String option, @Nullable Path output, List<Path> inputs) throws IOException {
        if (output == null) {
            return;
        }
        for (Path input : inputs) {
            if (Files.exists(output) && Files.exists(input) && Files.isSameFile(output, input)) {
                throw new IllegalArgumentException(
                        option + " would overwrite the input " + input + "; choose another file");
            }
        }
        try {
            require(output);
        } catch (FileSystemException wrong) {
            throw new IOException(option + ": " + wrong.getMessage(), wrong);
        }
    }

    private static Path beside(Path path) throws FileSystemException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            String kind = Files.isDirectory(path) ? "a folder" : "something that is not a regular file";
            throw failure(path, ": expected a file or a free path, found " + kind, null);
        }
        Path folder = folder(path);
        if (!Files.isDirectory(folder)) {
            throw failure(path, ": no such folder: " + folder, null);
        }
        // Not Files.createTempFile: it ignores the umask and makes files private.
        return folder.resolve(BEGIN + UUID.randomUUID() + PARTIAL);
    }

    private static Path folder(Path path) {
        return Objects.requireNonNull(path.toAbsolutePath().getParent(), "only a folder has no parent");
    }

    private static void named(Path path, Step step) throws FileSystemException {
        try {
            step.run();
        } catch (IOException e) {
            throw failure(path, e);
        }
    }

    /** Creates an exception that names the target instead of the partial file. */
    public static FileSystemException failure(Path path, IOException e) {
        return failure(path, " in folder " + folder(path) + ": " + reason(e), e);
    }

    private static FileSystemException failure(Path path, String problem, @Nullable IOException cause) {
        FileSystemException failure = new FileSystemException(path.toString(), null, "cannot be written" + problem);
        failure.initCause(cause);
        return failure;
    }

    /** Returns whether a file of this name is unfinished. */
    public static boolean isPartial(String name) {
        return name.startsWith(BEGIN) && name.endsWith(PARTIAL);
    }

    /** Deletes partial files of killed processes in a folder; no other process may write there. */
    public static void sweep(Path folder) throws IOException {
        try (DirectoryStream<Path> partials = Files.newDirectoryStream(folder, BEGIN + "*" + PARTIAL)) {
            for (Path partial : partials) {
                Files.deleteIfExists(partial);
            }
        }
    }

    /** Returns the reason of a failure, without the name of the temporary file. */
    public static String reason(IOException e) {
        String message = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
        if (message == null) {
            return switch (e) {
                case AccessDeniedException _ -> "permission denied";
                case NoSuchFileException _ -> "files cannot be created there";
                default -> e.getClass().getSimpleName();
            };
        }
        return message.contains("No space left") ? message + ": free disk space, or choose another folder" : message;
    }
}
