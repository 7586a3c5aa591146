package org.gramian.image.dataset;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Something missing, skipped or unusual in a dataset or its splits, for the user.
 *
 * @param count how often it occurs
 * @param examples the names; {@link #text} shows a few
 */
public record Note(Kind kind, int count, List<String> examples) {
    /** Number of names in {@link #text}; {@link Kind#ABSENT_CLASSES} shows all, as each may be a typo. */
    public static final int SHOWN = 5;

    /** Kinds of notes, each with its text in singular and plural. */
    public enum Kind {
        NOT_IMAGES("file that is not an image was skipped", "files that are not images were skipped"),
        VIDEOS(
                "video was skipped (extract images with: ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg)",
                "videos were skipped (extract images with: ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg)"),
        UNDECODABLE_NAMES(
                "file name is not UTF-8 and is shown with replaced letters (rename with: convmv -f latin1 -t utf8 -r DIR)",
                "file names are not UTF-8 and are shown with replaced letters (rename with: convmv -f latin1 -t utf8 -r DIR)"),
        OUTSIDE_LAYOUT(
                "image outside the layout's folders was skipped", "images outside the layout's folders were skipped"),
        NESTED("image below its class folder was skipped", "images below their class folders were skipped"),
        HIDDEN_FOLDERS("hidden folder was skipped", "hidden folders were skipped"),
        EMPTY_CLASSES("class folder without images was skipped", "class folders without images were skipped"),
        UNUSED_FOLDERS("folder outside the layout was skipped", "folders outside the layout were skipped"),
        UNUSED_IMAGES(
                "folder with images outside the layout was skipped",
                "folders with images outside the layout were skipped"),
        MASKS("folder of masks was skipped", "folders of masks were skipped"),
        EMPTY_VALIDATION(
                "validation folder has no class folders and is not used",
                "validation folders have no class folders and are not used"),
        VALIDATION_TESTS(
                "validation set is used as the test set, because there is no test set",
                "validation sets are used as test sets, because there are no test sets"),
        ABSENT_CLASSES(
                "class in the lists is missing, with all its images",
                "classes in the lists are missing, with all their images"),
        ABSENT_IMAGES("listed image is missing", "listed images are missing"),
        UNLISTED_IMAGES(
                "image is in no list and not used by the given splits",
                "images are in no list and not used by the given splits"),
        UNLABELLED_IMAGES(
                "image is in no list and has no label: skipped", "images are in no list and have no label: skipped"),
        REPEATED_ROWS("duplicate row was skipped", "duplicate rows were skipped"),
        UNUSED_COLUMNS("column was not used", "columns were not used"),
        UNVALIDATED_CLASSES("class has no validation image in a fold", "classes have no validation image in a fold"),
        UNTESTED_CLASSES("class has no test image in a fold", "classes have no test image in a fold"),
        STRADDLING_COPIES(
                "set of identical files lies on both sides of a given split, which biases the result upwards",
                "sets of identical files lie on both sides of a given split, which biases the result upwards"),
        COPIES_ACROSS_CLASSES(
                "set of identical files has more than one label", "sets of identical files have more than one label"),
        SAMPLED("image was left out of a random sample", "images were left out of a random sample"),
        UNCOMPARED_FILES(
                "file could not be opened and was not compared with others",
                "files could not be opened and were not compared with others");

        private final String one;
        private final String many;

        Kind(String one, String many) {
            this.one = one;
            this.many = many;
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
        String sentence = count + " " + (count == 1 ? kind.one : kind.many);
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
