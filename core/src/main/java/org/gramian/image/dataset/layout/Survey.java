package org.gramian.image.dataset.layout;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.gramian.basis.FileNames;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.NoteCollector;
import org.gramian.image.dataset.Sample;

/** One pass over a root folder: collects images under their classes, notes what is left out, makes the dataset. */
final class Survey {
    private final Path root;
    private final NoteCollector notebook = new NoteCollector();
    private final List<Entry> entries = new ArrayList<>();

    Survey(Path root) throws DatasetException {
        if (!Files.isDirectory(root)) {
            throw new DatasetException(root, "expected a folder, found " + (Files.exists(root) ? "a file" : "nothing"));
        }
        this.root = root;
    }

    Path root() {
        return root;
    }

    void note(Kind kind, String name) {
        notebook.add(kind, name);
    }

    /** The path below the root, with forward slashes on every system. */
    String name(Path path) {
        StringJoiner name = new StringJoiner("/");
        root.relativize(path).forEach(element -> name.add(element.toString()));
        return name.toString();
    }

    void add(String category, Path file) {
        add(new Entry(name(file), category, file, Optional.empty()));
    }

    void add(Entry entry) {
        if (FileNames.isDamaged(entry.name())) {
            note(Kind.UNDECODABLE_NAMES, entry.name());
        }
        entries.add(entry);
    }

    /** The images of every class folder in a folder, by class; what else lies there is noted. */
    SortedMap<String, List<Path>> classes(Path parent) throws DatasetException {
        Listing here = Listing.of(parent);
        noteOthers(here);
        noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        SortedMap<String, List<Path>> classes = new TreeMap<>();
        for (Path folder : here.folders()) {
            List<Path> images = images(folder);
            if (images.isEmpty()) {
                note(Kind.EMPTY_CLASSES, name(folder));
            } else {
                classes.put(Listing.name(folder), images);
            }
        }
        return classes;
    }

    /** The images directly in a folder; deeper ones are noted. */
    List<Path> images(Path folder) throws DatasetException {
        Listing inside = Listing.of(folder);
        noteOthers(inside);
        for (Path deeper : inside.folders()) {
            noteNested(deeper);
        }
        return inside.images();
    }

    /** Links to folders are not entered here: they may lead back. */
    private void noteNested(Path folder) throws DatasetException {
        if (!Files.isSymbolicLink(folder)) {
            Listing inside = Listing.of(folder);
            noteOthers(inside);
            noteAll(Kind.NESTED, inside.images());
            for (Path deeper : inside.folders()) {
                noteNested(deeper);
            }
        }
    }

    /** Notes hidden folders, videos and other files that are no images. */
    void noteOthers(Listing listing) {
        noteAll(Kind.HIDDEN_FOLDERS, listing.hidden());
        for (Path file : listing.others()) {
            note(ImageNames.beginsAsVideo(file) ? Kind.VIDEOS : Kind.NOT_PICTURES, name(file));
        }
    }

    /** Notes a folder that is no part of the layout; that it holds images is said, for they may be missed. */
    void noteUnused(Path folder) {
        note(Listing.holdsImages(folder) ? Kind.UNUSED_PICTURES : Kind.UNUSED_FOLDERS, name(folder));
    }

    void noteAll(Kind kind, List<Path> paths) {
        paths.forEach(path -> note(kind, name(path)));
    }

    /** Notes listed images that are not there; of a class that is wholly absent, its name alone. */
    void noteAbsent(Map<String, String> classOfListed, Set<String> present, Set<String> presentClasses) {
        classOfListed.forEach((name, category) -> {
            if (!present.contains(name)) {
                boolean known = presentClasses.contains(category);
                note(known ? Kind.ABSENT_PICTURES : Kind.ABSENT_CLASSES, known ? name : category);
            }
        });
    }

    /** What was added so far, sorted by name: the order of the dataset's samples. */
    List<Entry> entries() {
        return entries.stream().sorted(Comparator.comparing(Entry::name)).toList();
    }

    /**
     * The dataset of all that was added; the assignment is in the order of {@link #entries()}.
     *
     * @throws DatasetException if there are fewer than two classes, with the dataset if there is one
     */
    Dataset dataset(Layout layout, Assignment assignment) throws DatasetException {
        Dataset dataset = whole(layout, assignment);
        requireTwo(dataset);
        return dataset;
    }

    /** The same for any number of classes. */
    Dataset whole(Layout layout, Assignment assignment) {
        List<Entry> sorted = entries();
        List<String> classes =
                sorted.stream().map(Entry::category).distinct().sorted().toList();
        Map<String, Integer> labels = new TreeMap<>();
        classes.forEach(name -> labels.put(name, labels.size()));
        List<Sample> samples = new ArrayList<>();
        for (Entry entry : sorted) {
            int label = Optional.ofNullable(labels.get(entry.category())).orElseThrow();
            samples.add(new Sample(entry.name(), label, entry.file(), entry.box()));
        }
        return new Dataset(root, classes, samples, new Dataset.Source(layout.text(), assignment, notebook.notes()));
    }

    private void requireTwo(Dataset dataset) throws DatasetException {
        List<String> classes = dataset.classes();
        if (classes.size() < 2) {
            String found =
                    classes.isEmpty() ? "no image in a class folder" : "only the class '" + classes.getFirst() + "'";
            StringJoiner notes = new StringJoiner("; ", " (", ")").setEmptyValue("");
            notebook.notes().forEach(note -> notes.add(note.text()));
            String problem = "expected images of at least two classes, as in CLASS/IMAGE.jpg; found " + found + notes
                    + "; if the class folders lie deeper, pass their parent folder";
            throw classes.isEmpty()
                    ? new DatasetException(root, problem)
                    : new DatasetException(root, problem, dataset);
        }
    }
}
