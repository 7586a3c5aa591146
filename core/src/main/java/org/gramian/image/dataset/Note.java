package org.gramian.image.dataset;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Something missing, skipped or unusual in a dataset or its splits, for the user.
 *
 * @param count how often it occurs
 * @param examples the names; {@link #text} shows a few
 * @since 0.1
 */
public record Note(Kind kind, int count, List<String> examples) {
    /** Number of names in {@link #text}; {@link Kind#ABSENT_CLASSES} shows all, as each may be a typo. */
    public static final int SHOWN = 5;

    /** Kinds of notes, each with its text; brackets hold the words for one and for more. */
    public enum Kind {
        NOT_IMAGES("file[ that is not an image was|s that are not images were] skipped"),
        VIDEOS("video[ was|s were] skipped (extract images with: ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg)"),
        UNDECODABLE_NAMES("file name[ is|s are] not UTF-8 and [is|are] shown with replaced letters"
                + " (rename with: convmv -f latin1 -t utf8 -r DIR)"),
        OUTSIDE_LAYOUT("image[|s] outside the layout's folders [was|were] skipped"),
        NESTED("image[ below its class folder was|s below their class folders were] skipped"),
        HIDDEN_FOLDERS("hidden folder[ was|s were] skipped"),
        EMPTY_CLASSES("class folder[ has|s have] no images"),
        UNUSED_FOLDERS("folder[|s] outside the layout [was|were] skipped"),
        UNUSED_IMAGES("folder[|s] with images outside the layout [was|were] skipped"),
        MASKS("folder[|s] of masks [was|were] skipped"),
        EMPTY_VALIDATION("validation folder[ has|s have] no images in class folders and [is|are] not used"),
        VALIDATION_TESTS("validation set[ is used as the test set, because there is no test set"
                + "|s are used as test sets, because there are no test sets]"),
        ABSENT_CLASSES("class[|es] in the lists [is missing, with all its|are missing, with all their] images"),
        ABSENT_IMAGES("listed image[ is|s are] missing and skipped"),
        UNLISTED_IMAGES("image[ is|s are] in no list and not used by the given splits"),
        UNLABELLED_IMAGES("image[ is in no list and has|s are in no list and have] no label: skipped"),
        REPEATED_ROWS("duplicate row[ was|s were] skipped"),
        UNUSED_COLUMNS("column[ was|s were] not used"),
        UNVALIDATED_CLASSES("class[ has|es have] no validation image in a fold"),
        UNTESTED_CLASSES("class[ has|es have] no test image in a fold"),
        STRADDLING_COPIES(
                "set[|s] of identical files [lies|lie] on both sides of a given split, which biases the result"
                        + " upwards"),
        COPIES_ACROSS_CLASSES("set[|s] of identical files [has|have] more than one label, and all are used"),
        RELABELLED("image[ has|s have] another label in the list of labels"),
        SAMPLED("image[ was|s were] left out of a random sample"),
        UNCOMPARED_FILES("file[|s] could not be opened and [was|were] not compared with others");

        private static final Pattern CHOICE = Pattern.compile("\\[([^|]*)\\|([^]]*)]");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        private String text(int count) {
            return CHOICE.matcher(text).replaceAll(count == 1 ? "$1" : "$2");
        }
    }

    public Note {
        examples = List.copyOf(examples);
        if (count < 1 || examples.size() > count) {
            throw new IllegalArgumentException(
                    "expected a count of at least 1 and at least the number of examples, found " + count + " for "
                            + examples);
        }
    }

    /** Returns the note as a sentence, as {@code 2 hidden folders were skipped: .git, .cache}. */
    public String text() {
        String sentence = count + " " + kind.text(count);
        List<String> shown =
                kind == Kind.ABSENT_CLASSES ? examples : examples.subList(0, Math.min(SHOWN, examples.size()));
        String more = count > shown.size() ? ", ..." : "";
        return shown.isEmpty() ? sentence : sentence + ": " + String.join(", ", shown) + more;
    }

    @Override
    public String toString() {
        return text();
    }

    /** Collects notes; every name counts once per kind. */
    public static final class Collector {
        private final Map<Kind, Set<String>> names = new EnumMap<>(Kind.class);

        /** Creates a collector without notes. */
        public Collector() {}

        /** Counts one more of a kind. */
        public void add(Kind kind, String name) {
            names.computeIfAbsent(kind, _ -> new LinkedHashSet<>()).add(name);
        }

        /** Returns one note for every kind that occurred, in the order of the kinds, with sorted names. */
        public List<Note> notes() {
            List<Note> notes = new ArrayList<>();
            names.forEach((kind, found) -> notes.add(
                    new Note(kind, found.size(), found.stream().sorted().toList())));
            return notes;
        }
    }
}
