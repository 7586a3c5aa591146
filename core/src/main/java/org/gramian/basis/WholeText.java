package org.gramian.basis;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * A text file in UTF-8 that appears under its name complete or not at all: written beside it, forced to the disk, then
 * renamed over whatever was there. On any failure the partial file is removed and the old one is left as it was.
 */
public final class WholeText {
    private WholeText() {}

    /** What goes into a file. */
    @FunctionalInterface
    public interface Content {
        void writeTo(Writer text) throws IOException;
    }

    /**
     * Writes or replaces a file.
     *
     * @throws IOException with a message {@code FILE: cannot be written ...} that is meant for the user as it stands
     */
    public static void write(Path path, Content content) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            String kind = Files.isDirectory(path) ? "a folder" : "something that is no regular file";
            throw new IOException(path + ": cannot be written: expected a file or nothing there, found " + kind);
        }
        Path folder = Objects.requireNonNull(path.toAbsolutePath().getParent(), "only a folder has no parent");
        if (!Files.isDirectory(folder)) {
            throw new IOException(path + ": cannot be written: there is no folder " + folder);
        }
        try {
            WholeFile.put(path, partial -> make(partial, content));
        } catch (AccessDeniedException e) {
            throw new IOException(path + ": cannot be written: permission denied in folder " + folder, e);
        } catch (IOException e) {
            throw new IOException(path + ": cannot be written: " + reason(e), e);
        }
    }

    private static void make(Path partial, Content content) throws IOException {
        // A bare encoder reports half a surrogate pair, where a charset would write a question mark for it.
        try (Writer text = new BufferedWriter(new OutputStreamWriter(
                Files.newOutputStream(partial, StandardOpenOption.CREATE_NEW), StandardCharsets.UTF_8.newEncoder()))) {
            content.writeTo(text);
        }
    }

    private static String reason(IOException e) {
        return e instanceof CharacterCodingException
                ? "expected text that UTF-8 can hold, found half a surrogate pair"
                : WholeFile.reason(e);
    }
}
