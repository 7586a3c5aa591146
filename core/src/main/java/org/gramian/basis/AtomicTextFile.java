package org.gramian.basis;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A text file in UTF-8 that appears under its name complete or not at all: written beside it, forced to the disk, then
 * renamed over whatever was there. On any failure the partial file is removed and the old one is left as it was.
 */
public final class AtomicTextFile {
    private AtomicTextFile() {}

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
        AtomicFile.put(path, partial -> make(partial, content));
    }

    private static void make(Path partial, Content content) throws IOException {
        // A bare encoder reports half a surrogate pair, where a charset would write a question mark for it.
        try (Writer text = new BufferedWriter(new OutputStreamWriter(
                Files.newOutputStream(partial, StandardOpenOption.CREATE_NEW), StandardCharsets.UTF_8.newEncoder()))) {
            content.writeTo(text);
        } catch (CharacterCodingException e) {
            throw new IOException("expected text that UTF-8 can hold, found half a surrogate pair", e);
        }
    }
}
