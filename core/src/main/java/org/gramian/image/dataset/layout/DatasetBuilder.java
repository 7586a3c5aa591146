package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.FileNames;
import org.gramian.image.ImageFormat;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample;

/** Collects the images below a root folder with their classes, and notes on what was skipped, and builds the dataset. */
final class DatasetBuilder {
    /** Name of a split without siblings. */
    static final String ONLY_SPLIT = "given";

    /** Room for ten million images; published lists are below 2 MiB. */
    private static final long MAX_LIST_BYTES = 1L << 30;

    /**
     * An image before classes have numbers.
     *
     * @param box bounding box of its object, if known
     * @param part its part of the only split, if there is one
     */
    record Entry(String name, String category, Path file, Optional<Sample.Box> box, SplitPart part) {}

    private final Path root;
    private final Note.Collector notes = new Note.Collector();
    private final List<Entry> entries = new ArrayList<>();

    DatasetBuilder(Path root) throws DatasetException {
        if (!Files.isDirectory(root)) {
            throw new DatasetException(root, "expected a folder, found " + (Files.exists(root) ? "a file" : "nothing"));
        }
        this.root = root;
    }

    static void requireFolder(Path folder) throws DatasetException {
        if (!Files.isDirectory(folder)) {
            throw new DatasetException(folder, "expected a folder, found none with that name");
        }
    }

    /** Returns the content of a list without its byte-order mark. */
    static String text(Path file) throws DatasetException {
        try {
            if (!Files.isRegularFile(file)) {
                throw new DatasetException(
                        file, "expected a list, found " + (Files.exists(file) ? "a folder" : "nothing"));
            }
            if (Files.size(file) > MAX_LIST_BYTES) {
                throw new DatasetException(
                        file, "expected a list of at most " + MAX_LIST_BYTES + " bytes, found " + Files.size(file));
            }
            String text = Files.readString(file);
            return text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (CharacterCodingException malformed) {
            throw new DatasetException(file, "expected text in UTF-8, found other bytes", malformed);
        } catch (DatasetException known) {
            throw known;
        } catch (IOException failure) {
            throw new DatasetException(file, "expected a list that can be read, found: " + failure, failure);
        }
    }

    Path root() {
        return root;
    }

    void note(Kind kind, String name) {
        notes.add(kind, name);
    }

    private void noteAll(Kind kind, List<Path> paths) {
        paths.forEach(path -> note(kind, name(path)));
    }

    /** Returns the path below the root, with forward slashes on every system. */
    String name(Path path) {
        StringJoiner name = new StringJoiner("/");
        root.relativize(path).forEach(element -> name.add(element.toString()));
        return name.toString();
    }

    void add(Entry entry) {
        if (FileNames.isDamaged(entry.name())) {
            note(Kind.UNDECODABLE_NAMES, entry.name());
        }
        entries.add(entry);
    }

    void add(String category, Path file) {
        add(category, file, SplitPart.UNUSED);
    }

    void add(String category, Path file, SplitPart part) {
        add(new Entry(name(file), category, file, Optional.empty(), part));
    }

    /** Adds the images of every class folder in a folder, and notes everything else. */
    void addClasses(Path parent) throws DatasetException {
        classes(parent).forEach((category, files) -> files.forEach(file -> add(category, file)));
    }

    /** Returns the images of every class folder in a folder, by class, and notes everything else. */
    SortedMap<String, List<Path>> classes(Path parent) throws DatasetException {
        SortedMap<String, List<Path>> classes = new TreeMap<>();
        for (Path folder : folders(parent)) {
            List<Path> images = images(folder);
            if (images.isEmpty()) {
                note(Kind.EMPTY_CLASSES, name(folder));
            } else {
                classes.put(Listing.name(folder), images);
            }
        }
        return classes;
    }

    List<Path> folders(Path parent) throws DatasetException {
        Listing here = Listing.of(parent);
        noteOthers(here);
        noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        return here.folders();
    }

    /** Returns the images directly in a folder, and notes deeper ones. */
    List<Path> images(Path folder) throws DatasetException {
        Listing inside = Listing.of(folder);
        noteOthers(inside);
        for (Path deeper : inside.folders()) {
            noteNested(deeper);
        }
        return inside.images();
    }

    /** Does not follow links to folders: they may form a cycle. */
    private void noteNested(Path folder) throws DatasetException {
        if (!Files.isSymbolicLink(folder)) {
            noteAll(Kind.NESTED, images(folder));
        }
    }

    void noteOthers(Listing listing) {
        noteAll(Kind.HIDDEN_FOLDERS, listing.hidden());
        for (Path file : listing.others()) {
            note(ImageFormat.beginsAsVideo(file) ? Kind.VIDEOS : Kind.NOT_IMAGES, name(file));
        }
    }

    void noteUnused(Path folder) {
        note(Listing.holdsImages(folder) ? Kind.UNUSED_IMAGES : Kind.UNUSED_FOLDERS, name(folder));
    }

    /**
     * Notes what lies in a folder of a published dataset beside the named sub-folders. Files that are not images are expected
     * there: lists and licences.
     */
    void noteAround(Path folder, String... names) throws DatasetException {
        Set<String> known = Set.of(names);
        Listing here = Listing.of(folder);
        noteAll(Kind.HIDDEN_FOLDERS, here.hidden());
        noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        here.folders().stream()
                .filter(other -> !known.contains(Listing.name(other)))
                .forEach(this::noteUnused);
    }

    /**
     * Notes listed images that are missing, for a class without any image only its name, and images that no list names.
     *
     * @param present the images in the folders, named as in the lists
     */
    void noteLists(Map<String, String> classOfListed, Set<String> present, Kind unlisted) {
        Set<String> presentClasses = entries.stream().map(Entry::category).collect(Collectors.toSet());
        classOfListed.forEach((name, category) -> {
            if (!present.contains(name)) {
                boolean known = presentClasses.contains(category);
                note(known ? Kind.ABSENT_IMAGES : Kind.ABSENT_CLASSES, known ? name : category);
            }
        });
        present.stream().filter(name -> !classOfListed.containsKey(name)).forEach(name -> note(unlisted, name));
    }

    /** Returns the images added so far, sorted by name: the order of the dataset's samples. */
    private List<Entry> entries() {
        return entries.stream().sorted(Comparator.comparing(Entry::name)).toList();
    }

    List<String> names() {
        return inOrder(name -> name);
    }

    /** Returns what belongs to the name of each image, in the order of the dataset's samples. */
    <T> List<T> inOrder(Function<String, T> ofName) {
        return entries().stream().map(Entry::name).map(ofName).toList();
    }

    Assignment split() {
        List<SplitPart> parts = entries().stream().map(Entry::part).toList();
        return new Assignment.Splits(List.of(new Split(ONLY_SPLIT, parts)));
    }

    /** Builds the dataset; the assignment is in the order of its samples. */
    Dataset dataset(DatasetLayout layout, Assignment assignment) throws DatasetException {
        Dataset dataset = anyClasses(layout, assignment);
        List<String> classes = dataset.classes();
        if (classes.size() < 2) {
            String found =
                    classes.isEmpty() ? "no image in a class folder" : "only the class '" + classes.getFirst() + "'";
            StringJoiner noted = new StringJoiner("; ", " (", ")").setEmptyValue("");
            notes.notes().forEach(note -> noted.add(note.text()));
            String problem = "expected images of at least two classes, as in CLASS/IMAGE.jpg; found " + found + noted
                    + "; if the class folders lie deeper, pass their parent folder";
            throw classes.isEmpty()
                    ? new DatasetException(root, problem)
                    : new DatasetException(root, problem, dataset);
        }
        return dataset;
    }

    Dataset anyClasses(DatasetLayout layout, Assignment assignment) {
        List<Entry> sorted = entries();
        List<String> classes =
                sorted.stream().map(Entry::category).distinct().sorted().toList();
        Map<String, Integer> labels = new HashMap<>();
        classes.forEach(name -> labels.put(name, labels.size()));
        List<Sample> samples = sorted.stream()
                .map(entry ->
                        new Sample(entry.name(), labels.getOrDefault(entry.category(), -1), entry.file(), entry.box()))
                .toList();
        return new Dataset(root, classes, samples, new Dataset.Source(layout.text(), assignment, notes.notes()));
    }

    /**
     * The content of a folder, not recursive, sorted by name. A file is an image by its extension or else by its first bytes. Links
     * are followed; a broken link with the name of an image is an image that the decoder will report.
     */
    record Listing(List<Path> folders, List<Path> hidden, List<Path> images, List<Path> others) {
        static Listing of(Path folder) throws DatasetException {
            Listing found = new Listing(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
                List<Path> sorted = new ArrayList<>();
                children.forEach(sorted::add);
                sorted.sort(Comparator.comparing(Listing::name));
                requireNames(folder, sorted);
                sorted.forEach(found::place);
            } catch (DatasetException unnamed) {
                throw unnamed;
            } catch (DirectoryIteratorException | IOException failure) {
                String reason = failure.getClass().getSimpleName().replace("Exception", "");
                throw new DatasetException(folder, "expected a folder that can be listed, found: " + reason, failure);
            }
            return found;
        }

        /** Rejects names with lost characters: they would become class names, and two files might get the same name. */
        private static void requireNames(Path folder, List<Path> children) throws DatasetException {
            Optional<String> damaged = children.stream()
                    .map(Listing::name)
                    .filter(FileNames::isDamaged)
                    .findFirst();
            if (damaged.isPresent() && !FileNames.isUtf8()) {
                throw new DatasetException(folder, FileNames.problem(damaged.get()));
            }
        }

        private void place(Path child) {
            String name = name(child);
            if (Files.isDirectory(child)) {
                (ImageFormat.isHidden(name) ? hidden : folders).add(child);
            } else {
                boolean special = Files.exists(child) && !Files.isRegularFile(child); // a pipe would block
                boolean image = !special && (ImageFormat.isImage(name) || ImageFormat.beginsAsImage(child));
                (image ? images : others).add(child);
            }
        }

        /** Returns whether there are images in a folder or below it; does not follow links, ignores unreadable folders. */
        static boolean holdsImages(Path folder) {
            try {
                Listing inside = of(folder);
                return !inside.images.isEmpty()
                        || inside.folders.stream()
                                .anyMatch(deeper -> !Files.isSymbolicLink(deeper) && holdsImages(deeper));
            } catch (DatasetException unlisted) {
                return false;
            }
        }

        static String name(Path path) {
            Path last = path.getFileName();
            return last == null ? "" : last.toString();
        }
    }
}
