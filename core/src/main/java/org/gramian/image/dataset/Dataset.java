package org.gramian.image.dataset;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Labelled image files; not decoded.
 *
 * @param root folder of the images
 * @param classes class names, sorted; a label is an index into them, the same in every split
 * @param samples the images, sorted by name
 * @param source layout, published splits, and notes on what was left out
 * @since 0.1
 */
public record Dataset(Path root, List<String> classes, List<Sample> samples, Source source) {
    /**
     * Information on a dataset besides images and labels.
     *
     * @param layout the text of the layout that was read, such as {@code fmd} or {@code fgvc-aircraft:family}
     * @param assignment the published splits, if any
     * @param notes what was missing or skipped
     */
    public record Source(String layout, Assignment assignment, List<Note> notes) {
        public Source {
            notes = List.copyOf(notes);
        }

        /** Returns the layout's name without its argument, such as {@code fgvc-aircraft}. */
        public String layoutName() {
            int colon = layout.indexOf(':');
            return colon < 0 ? layout : layout.substring(0, colon);
        }
    }

    public Dataset {
        classes = List.copyOf(classes);
        samples = List.copyOf(samples);
        requireDistinct(classes, "classes");
        requireDistinct(samples.stream().map(Sample::name).toList(), "names of samples");
        for (Sample sample : samples) {
            if (sample.label() < 0 || sample.label() >= classes.size()) {
                throw new IllegalArgumentException("expected a label below " + classes.size() + " for '" + sample.name()
                        + "', found " + sample.label());
            }
        }
        requireSizes(source.assignment(), samples.size());
    }

    /** Creates a dataset of the layout {@code folders} without published splits. */
    public Dataset(Path root, List<String> classes, List<Sample> samples) {
        this(root, classes, samples, new Source("folders", new Assignment.None(), List.of()));
    }

    /** Returns the published splits. */
    public Assignment assignment() {
        return source.assignment();
    }

    /** Returns notes on what was missing or skipped. */
    public List<Note> notes() {
        return source.notes();
    }

    /** Returns the class name of a sample. */
    public String className(Sample sample) {
        return classes.get(sample.label());
    }

    /** Returns the number of images of each class. */
    public List<Integer> counts() {
        int[] counts = new int[classes.size()];
        samples.forEach(sample -> counts[sample.label()]++);
        return Arrays.stream(counts).boxed().toList();
    }

    /** Returns a dataset of some samples with the same classes, and a note; {@code indexes} are ascending. */
    public Dataset sample(List<Integer> indexes) {
        List<Note> notes = new ArrayList<>(source.notes);
        notes.add(new Note(Note.Kind.SAMPLED, samples.size() - indexes.size(), List.of()));
        return new Dataset(
                root,
                classes,
                indexes.stream().map(samples::get).toList(),
                new Source(source.layout, source.assignment.some(indexes), notes));
    }

    /**
     * Returns the dataset with other labels for some samples, and a note.
     *
     * @param labels class indices by name of a sample
     */
    public Dataset relabelled(Map<String, Integer> labels) {
        List<Sample> all = new ArrayList<>();
        List<String> changed = new ArrayList<>();
        for (Sample sample : samples) {
            int label = labels.getOrDefault(sample.name(), sample.label());
            all.add(new Sample(sample.name(), label, sample.file(), sample.box()));
            if (label != sample.label()) {
                changed.add(sample.name());
            }
        }
        List<Note> notes = new ArrayList<>(source.notes);
        if (!changed.isEmpty()) {
            notes.add(new Note(Note.Kind.RELABELLED, changed.size(), changed));
        }
        return new Dataset(root, classes, all, new Source(source.layout, source.assignment, notes));
    }

    private static void requireDistinct(List<String> names, String what) {
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (!seen.add(name)) {
                throw new IllegalArgumentException("expected different " + what + ", found '" + name + "' twice");
            }
        }
    }

    private static void requireSizes(Assignment assignment, int samples) {
        List<Integer> sizes = switch (assignment) {
            case Assignment.None() -> List.of();
            case Assignment.Splits(List<Assignment.Split> splits) ->
                splits.stream().map(split -> split.parts().size()).toList();
            case Assignment.Folds(List<Integer> numbers) -> List.of(numbers.size());
            case Assignment.Groups(List<String> letters) -> List.of(letters.size());
        };
        for (int size : sizes) {
            if (size != samples) {
                throw new IllegalArgumentException(
                        "expected an assignment of all " + samples + " samples, found one of " + size);
            }
        }
    }
}
