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
    /** The published lists are below 2 MiB; a list of ten million images would still fit. */
    private static final long LARGEST = 1L << 30;

    /** The lines that are not blank; Windows line ends and a byte-order mark do no harm. */
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
        } catch (DatasetException said) {
            throw said;
        } catch (IOException failure) {
            throw new DatasetException(file, "expected a list that can be read, found: " + failure, failure);
        }
        return lines;
    }

    /** The line cut at space into so many fields, of which the last may contain space. */
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
