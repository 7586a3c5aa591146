package org.gramian.image.dataset.layout;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.gramian.image.dataset.DatasetException;

/** A published list of {@code NUMBER TEXT}, in which every number stands once. */
final class NumberedList {
    static final String FORM = "NUMBER TEXT";

    private final Path file;
    private final Map<String, ListLine> lines;

    private NumberedList(Path file, Map<String, ListLine> lines) {
        this.file = file;
        this.lines = lines;
    }

    static NumberedList read(Path file) throws DatasetException {
        Map<String, ListLine> lines = new LinkedHashMap<>();
        for (ListLine line : ListLine.read(file)) {
            String id = line.fields(2, FORM)[0];
            ListLine before = lines.put(id, line);
            if (before != null) {
                throw line.wrong("expected every number once, found " + id + " also on line " + before.number());
            }
        }
        return new NumberedList(file, lines);
    }

    /** The numbers, in the order of the list. */
    Set<String> ids() {
        return lines.keySet();
    }

    /** The line of a number that other lists know. */
    ListLine line(String id) throws DatasetException {
        ListLine line = lines.get(id);
        if (line == null) {
            throw new DatasetException(file, "expected a line for number " + id + ", found none");
        }
        return line;
    }

    /** What the list says for a number that other lists know. */
    String text(String id) throws DatasetException {
        return line(id).fields(2, FORM)[1];
    }
}
