package org.gramian.image.dataset;

import java.util.List;

/**
 * Something that was missing, left out or odd when a data set was read or divided, for the user to see.
 *
 * @param kind what it is
 * @param count how often it occurs
 * @param examples the names of all that the reader of the data set noted; {@link #text} shows a few
 */
public record Note(Kind kind, int count, List<String> examples) {
    /** Names that a sentence shows; of {@link Kind#ABSENT_CLASSES} all, as each may be a typing mistake. */
    public static final int SHOWN = 5;

    /** Kinds of notes, each with its wording for one and for many. */
    public enum Kind {
        NOT_PICTURES(
                "file that is no image by name or content was left out",
                "files that are no images by name or content were left out"),
        VIDEOS(
                "video was left out (extract images with: ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg)",
                "videos were left out (extract images with: ffmpeg -i VIDEO -vf fps=1 frame-%04d.jpg)"),
        UNDECODABLE_NAMES(
                "file name is not UTF-8 and is shown with replaced letters (rename with: convmv -f latin1 -t utf8 -r DIR)",
                "file names are not UTF-8 and are shown with replaced letters (rename with: convmv -f latin1 -t utf8 -r DIR)"),
        OUTSIDE_LAYOUT(
                "image that lies outside the layout's folders was left out",
                "images that lie outside the layout's folders were left out"),
        NESTED(
                "image that lies deeper than its class folder was left out",
                "images that lie deeper than their class folders were left out"),
        HIDDEN_FOLDERS("hidden folder was left out", "hidden folders were left out"),
        EMPTY_CLASSES("class folder without images was left out", "class folders without images were left out"),
        UNUSED_FOLDERS(
                "folder that is no part of the layout was left out",
                "folders that are no part of the layout were left out"),
        UNUSED_PICTURES(
                "folder with images that is no part of the layout was left out",
                "folders with images that are no part of the layout were left out"),
        MASKS(
                "folder of masks was left out: they are not images",
                "folders of masks were left out: they are not images"),
        VALIDATION_TESTS(
                "part for validation is used to test, as there is no part to test",
                "parts for validation are used to test, as there is no part to test"),
        ABSENT_CLASSES(
                "class that the lists name is absent, with all its images",
                "classes that the lists name are absent, with all their images"),
        ABSENT_PICTURES("listed image is absent", "listed images are absent"),
        UNLISTED_PICTURES(
                "image is in no list and takes no part in the given splits",
                "images are in no list and take no part in the given splits"),
        UNLABELLED_PICTURES(
                "image is in no list and has no label: it was left out",
                "images are in no list and have no label: they were left out"),
        REPEATED_ROWS("row that repeats an earlier one was left out", "rows that repeat earlier ones were left out"),
        UNUSED_COLUMNS("column was not used", "columns were not used"),
        UNVALIDATED_CLASSES("class has no image to validate in a fold", "classes have no image to validate in a fold"),
        UNTESTED_CLASSES("class has no image to test in a fold", "classes have no image to test in a fold"),
        STRADDLING_COPIES(
                "set of identical files lies on both sides of a split that is given, which flatters the result",
                "sets of identical files lie on both sides of a split that is given, which flatters the result"),
        COPIES_ACROSS_CLASSES(
                "set of identical files has more than one label", "sets of identical files have more than one label"),
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
                    "expected a count of at least 1 and of the examples, found " + count + " for " + examples);
        }
    }

    /** The note as a sentence, as {@code 2 hidden folders were left out: .git, .cache}. */
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
}
