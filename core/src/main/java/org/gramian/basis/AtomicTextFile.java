package org.gramian.basis;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Atomic writes of text files in UTF-8, see {@link AtomicFile}. */
public final class AtomicTextFile {
    private AtomicTextFile() {}

    /** Writes the content of a file. */
    @FunctionalInterface
    public interface Content {
        void writeTo(Writer text) throws IOException;
    }

    /**
     * Writes or replaces a file.
     *
     * @throws IOException with the message {@code FILE: cannot be written ...} for the user
     */
    public static void write(Path path, Content content) throws IOException {
        AtomicFile.put(path, partial -> {
            // newBufferedWriter reports half a surrogate pair instead of writing a question mark
            try (Writer text = Files.newBufferedWriter(partial, StandardOpenOption.CREATE_NEW)) {
                content.writeTo(text);
            } catch (CharacterCodingException e) {
                throw new IOException("expected text that UTF-8 can hold, found half a surrogate pair", e);
            }
        });
    }
}
