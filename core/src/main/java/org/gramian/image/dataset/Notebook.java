package org.gramian.image.dataset;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.image.dataset.Note.Kind;

/** Collects what is to be noted while a data set is read or divided; every name counts once for a kind. */
public final class Notebook {
    /** Names that are shown of every kind; of {@link Kind#ABSENT_CLASSES} all are, as each may be a typing mistake. */
    public static final int SHOWN = 5;

    private final Map<Kind, Set<String>> names = new EnumMap<>(Kind.class);

    /** Notes one thing under its name. */
    public void add(Kind kind, String name) {
        names.computeIfAbsent(kind, _ -> new LinkedHashSet<>()).add(name);
    }

    /** One note for every kind that occurred, in the order of the kinds; the examples are the first in sorted order. */
    public List<Note> notes() {
        List<Note> notes = new ArrayList<>();
        names.forEach((kind, found) -> notes.add(note(kind, found)));
        return notes;
    }

    private static Note note(Kind kind, Set<String> found) {
        long shown = kind == Kind.ABSENT_CLASSES ? found.size() : SHOWN;
        return new Note(kind, found.size(), found.stream().sorted().limit(shown).toList());
    }
}
