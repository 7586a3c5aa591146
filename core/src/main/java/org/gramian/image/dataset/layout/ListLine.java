package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.image.dataset.DatasetException;

/**
 * A line of a published list, as {@code banded/banded_0002.jpg} or {@code 1025794 707-320}.
 *
 * @param file the list
 * @param number which line, from 1
 * @param text the line, without space around it
 */
record ListLine(Path file, int number, String text) {
    /** Room for ten million images; published lists are below 2 MiB. */
    private static final long LARGEST = 1L << 30;

    /** Returns the lines that are not blank; accepts any line ends and a byte-order mark. */
    static List<ListLine> read(Path file) throws DatasetException {
        List<ListLine> lines = new ArrayList<>();
        try {
            if (!Files.isRegularFile(file)) {
                throw new DatasetException(file, "expected a list, found no such file");
            }
            if (Files.size(file) > LARGEST) {
                throw new DatasetException(
                        file, "expected a list of at most " + LARGEST + " bytes, found " + Files.size(file));
            }
            int number = 0;
            for (String line : Files.readString(file, StandardCharsets.UTF_8).split("\r\n|\n|\r", -1)) {
                number++;
                String text = (number == 1 && line.startsWith("\uFEFF") ? line.substring(1) : line).strip();
                if (!text.isEmpty()) {
                    lines.add(new ListLine(file, number, text));
                }
            }
        } catch (CharacterCodingException malformed) {
            throw new DatasetException(file, "expected text in UTF-8, found other bytes", malformed);
        } catch (DatasetException known) {
            throw known;
        } catch (IOException failure) {
            throw new DatasetException(file, "expected a list that can be read, found: " + failure, failure);
        }
        return lines;
    }

    /** Splits the line at whitespace into a number of fields; the last may contain whitespace. */
    String[] fields(int count, String form) throws DatasetException {
        String[] fields = text.split("\\s+", count);
        if (fields.length < count) {
            throw wrong("expected '" + form + "', found '" + text + "'");
        }
        return fields;
    }

    DatasetException wrong(String problem) {
        return new DatasetException(file, "line " + number + ": " + problem);
    }
}
