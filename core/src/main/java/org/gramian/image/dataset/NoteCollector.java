package org.gramian.image.dataset;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.image.dataset.Note.Kind;

/** Collects what is to be noted while a dataset is read or divided; every name counts once for a kind. */
public final class NoteCollector {
    private final Map<Kind, Set<String>> names = new EnumMap<>(Kind.class);

    /** Notes one thing under its name. */
    public void add(Kind kind, String name) {
        names.computeIfAbsent(kind, _ -> new LinkedHashSet<>()).add(name);
    }

    /** One note for every kind that occurred, in the order of the kinds; the names are sorted. */
    public List<Note> notes() {
        List<Note> notes = new ArrayList<>();
        names.forEach((kind, found) ->
                notes.add(new Note(kind, found.size(), found.stream().sorted().toList())));
        return notes;
    }
}
