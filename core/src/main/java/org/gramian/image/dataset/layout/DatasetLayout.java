package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.gramian.basis.NearestWord;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.layout.DatasetBuilder.Listing;

/**
 * A layout of a dataset on disk.
 *
 * <p>Files outside the layout become {@link org.gramian.image.dataset.Note}s, contradictions a {@link
 * org.gramian.image.dataset.DatasetException}.
 *
 * @since 0.1
 */
public sealed interface DatasetLayout
        permits DatasetLayout.Folders, DatasetLayout.Flat, DatasetLayout.SplitFolders, PublishedLayout, Csv {
    /** Returns the layout as text, {@code name} or {@code name:argument}; {@link Layouts#parse} reads it back. */
    String text();

    /** Returns whether a folder or file seems to have this layout, judged by a few files and folders. */
    default boolean matches(Path place) throws IOException {
        return Files.isDirectory(place);
    }

    /** Reads names and labels; decodes no image. */
    Dataset read(Path place) throws IOException;

    /** A folder per class with the images directly in it: {@code wood/a.jpg}, {@code stone/b.jpg}. */
    record Folders() implements DatasetLayout {
        @Override
        public String text() {
            return "folders";
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            Listing here = Listing.of(place);
            if (here.folders().isEmpty()) {
                throw new DatasetException(
                        place,
                        (here.images().isEmpty() ? "no images" : here.images().size() + " images but no class folders")
                                + "; expected one subfolder per class, or a CSV file with the columns path,label");
            }
            builder.addClasses(place);
            return builder.dataset(this, new Assignment.None());
        }
    }

    /**
     * Images without classes, at any depth below a folder, or a single image, all with the label {@value #UNLABELLED}: for
     * features and predictions, not for training. Used only if requested, or where no classes are needed.
     */
    record Flat() implements DatasetLayout {
        static final String UNLABELLED = "unlabelled";

        @Override
        public String text() {
            return "flat";
        }

        @Override
        public Dataset read(Path place) throws IOException {
            boolean single = Files.isRegularFile(place);
            DatasetBuilder builder = new DatasetBuilder(
                    single ? Objects.requireNonNull(place.toAbsolutePath().getParent()) : place);
            if (single) {
                builder.add(UNLABELLED, place.toAbsolutePath());
            } else {
                collect(builder, place);
            }
            if (builder.names().isEmpty()) {
                throw new DatasetException(place, "expected images in this folder or below it, found none");
            }
            return builder.anyClasses(this, new Assignment.None());
        }

        /** Does not follow links to folders: they may form a cycle. */
        private static void collect(DatasetBuilder builder, Path folder) throws DatasetException {
            Listing inside = Listing.of(folder);
            builder.noteOthers(inside);
            inside.images().forEach(file -> builder.add(UNLABELLED, file));
            for (Path deeper : inside.folders()) {
                if (!Files.isSymbolicLink(deeper)) {
                    collect(builder, deeper);
                }
            }
        }
    }

    /**
     * The folders {@code train}, {@code val} (or {@code valid}, {@code validation}, {@code dev}) and {@code test}, each with the
     * same class folders: {@code train/wood/a.jpg}, {@code test/wood/b.jpg}.
     *
     * <p>A class missing in {@code train} or {@code test} is an error; {@code val} may lack classes, and even be empty. Without
     * {@code test}, {@code val} becomes the test set. Notes report both.
     */
    record SplitFolders() implements DatasetLayout {
        private static final Map<String, SplitPart> PARTS = Map.of(
                "train", SplitPart.TRAIN,
                "val", SplitPart.VALIDATION,
                "valid", SplitPart.VALIDATION,
                "validation", SplitPart.VALIDATION,
                "dev", SplitPart.VALIDATION,
                "test", SplitPart.TEST);

        /** Returns the part that a folder or a value of a fold column names, in any case. */
        static Optional<SplitPart> part(String name) {
            return Optional.ofNullable(PARTS.get(name.toLowerCase(Locale.ROOT)));
        }

        @Override
        public String text() {
            return "splits";
        }

        @Override
        public boolean matches(Path place) throws IOException {
            Set<SplitPart> withClasses = new TreeSet<>();
            for (Path folder : Files.isDirectory(place) ? Listing.of(place).folders() : List.<Path>of()) {
                Optional<SplitPart> part = part(Listing.name(folder));
                if (part.isPresent() && !Listing.of(folder).folders().isEmpty()) {
                    withClasses.add(part.get());
                }
            }
            return withClasses.size() >= 2 && withClasses.contains(SplitPart.TRAIN);
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            Map<SplitPart, Path> folders = parts(builder);
            Map<Path, Set<String>> classes = new TreeMap<>();
            for (Map.Entry<SplitPart, Path> folder : folders.entrySet()) {
                SortedMap<String, List<Path>> found = builder.classes(folder.getValue());
                classes.put(folder.getValue(), found.keySet());
                found.forEach((category, files) -> files.forEach(file -> builder.add(category, file, folder.getKey())));
            }
            Dataset dataset = builder.dataset(this, builder.split());
            requireSameClasses(dataset, classes, Optional.ofNullable(folders.get(SplitPart.VALIDATION)));
            return dataset;
        }

        private static Map<SplitPart, Path> parts(DatasetBuilder builder) throws DatasetException {
            Path root = builder.root();
            Map<SplitPart, Path> parts = new EnumMap<>(SplitPart.class);
            for (Path folder : builder.folders(root)) {
                Optional<SplitPart> part = part(Listing.name(folder));
                Path other = part.isEmpty() ? null : parts.put(part.get(), folder);
                if (part.isEmpty()) {
                    requireOtherName(folder);
                    builder.noteUnused(folder);
                } else if (other != null) {
                    throw new DatasetException(
                            root,
                            "expected one folder for " + part.get().word() + ", found '" + Listing.name(other)
                                    + "' and '" + Listing.name(folder) + "'");
                }
            }
            Path validation = parts.get(SplitPart.VALIDATION);
            if (validation != null && parts.containsKey(SplitPart.TEST) && isEmpty(validation)) {
                builder.note(Kind.EMPTY_VALIDATION, builder.name(validation));
                parts.remove(SplitPart.VALIDATION);
            } else if (validation != null && !parts.containsKey(SplitPart.TEST)) {
                builder.note(Kind.VALIDATION_TESTS, builder.name(validation));
                parts.remove(SplitPart.VALIDATION);
                parts.put(SplitPart.TEST, validation);
            }
            if (!parts.containsKey(SplitPart.TRAIN) || !parts.containsKey(SplitPart.TEST)) {
                throw new DatasetException(
                        root, "expected the folders train and test (or val), found " + parts.values());
            }
            return parts;
        }

        /** Returns whether there is nothing in the class folders. */
        private static boolean isEmpty(Path part) throws DatasetException {
            for (Path category : Listing.of(part).folders()) {
                Listing inside = Listing.of(category);
                if (!inside.images().isEmpty() || !inside.folders().isEmpty()) {
                    return false;
                }
            }
            return true;
        }

        /** Rejects a misspelt part, as {@code tets} beside {@code train} and {@code val}: its images must not be ignored. */
        private static void requireOtherName(Path folder) throws DatasetException {
            Optional<String> near = NearestWord.of(Listing.name(folder).toLowerCase(Locale.ROOT), PARTS.keySet());
            if (near.isPresent() && !Listing.of(folder).folders().isEmpty()) {
                throw new DatasetException(
                        folder, "expected train, val or test, did you mean '" + near.get() + "'? Rename the folder");
            }
        }

        /** A class that only the validation set lacks is noted by the protocol. */
        private static void requireSameClasses(
                Dataset dataset, Map<Path, Set<String>> classes, Optional<Path> validation) throws DatasetException {
            Set<String> all = new TreeSet<>();
            classes.values().forEach(all::addAll);
            List<String> missing = new ArrayList<>();
            classes.forEach((folder, found) -> all.stream()
                    .filter(category -> !found.contains(category) && !validation.equals(Optional.of(folder)))
                    .forEach(category -> missing.add("'" + category + "' in " + Listing.name(folder) + "/")));
            if (!missing.isEmpty()) {
                throw new DatasetException(
                        dataset.root(),
                        "expected images of every class in train and test, found none of " + String.join(", ", missing)
                                + "; add some, or remove these classes from the other folders",
                        dataset);
            }
        }
    }
}
