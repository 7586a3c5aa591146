package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.gramian.basis.NearestWord;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;

/**
 * The folders {@code train}, {@code val} (or {@code valid}, {@code validation}) and {@code test}, each with the same class
 * folders: {@code train/wood/a.jpg}, {@code test/wood/b.jpg}.
 *
 * <p>A class missing in one part is an error. Without {@code test}, {@code val} becomes the test set, and a note reports it.
 */
record SplitFolders() implements Layout {
    private static final Map<String, Part> PARTS = Map.of(
            "train", Part.TRAIN,
            "val", Part.VALIDATION,
            "valid", Part.VALIDATION,
            "validation", Part.VALIDATION,
            "test", Part.TEST);

    /** Returns the part that a folder or a value of a fold column names, in any case. */
    static Optional<Part> part(String name) {
        return Optional.ofNullable(PARTS.get(name.toLowerCase(Locale.ROOT)));
    }

    /** Returns the name probably meant by a misspelt one, as {@code train} by {@code trian}. */
    private static Optional<String> nearestPart(String name) {
        return NearestWord.of(name.toLowerCase(Locale.ROOT), PARTS.keySet());
    }

    @Override
    public String text() {
        return "splits";
    }

    @Override
    public boolean matches(Path place) throws IOException {
        Set<Part> withClasses = new TreeSet<>();
        for (Path folder : Files.isDirectory(place) ? Listing.of(place).folders() : List.<Path>of()) {
            Optional<Part> part = part(Listing.name(folder));
            if (part.isPresent() && !Listing.of(folder).folders().isEmpty()) {
                withClasses.add(part.get());
            }
        }
        return withClasses.size() >= 2 && withClasses.contains(Part.TRAIN);
    }

    /**
     * Rejects a folder whose name is a misspelt split, as {@code trian} beside {@code test}, if both contain a class of the same
     * name.
     *
     * @throws DatasetException with the name that was probably meant
     */
    static void requireSpelling(Path place) throws DatasetException {
        if (!Files.isDirectory(place)) {
            return;
        }
        Map<String, Set<String>> named = new TreeMap<>();
        Map<String, Set<String>> misspelt = new TreeMap<>();
        for (Path folder : Listing.of(place).folders()) {
            String name = Listing.name(folder);
            boolean spelt = part(name).isPresent();
            if (spelt || nearestPart(name).isPresent()) {
                Listing inside = Listing.of(folder);
                Set<String> classes = new TreeSet<>();
                inside.folders().forEach(one -> classes.add(Listing.name(one)));
                if (!classes.isEmpty() && inside.images().isEmpty()) {
                    (spelt ? named : misspelt).put(name, classes);
                }
            }
        }
        for (Map.Entry<String, Set<String>> wrong : misspelt.entrySet()) {
            Optional<String> beside = Stream.concat(named.entrySet().stream(), misspelt.entrySet().stream())
                    .filter(other -> !other.getKey().equals(wrong.getKey()))
                    .filter(other -> !Collections.disjoint(other.getValue(), wrong.getValue()))
                    .map(Map.Entry::getKey)
                    .findFirst();
            if (beside.isPresent()) {
                throw new DatasetException(
                        place,
                        "expected the folders train, val and test, found " + wrong.getKey() + "/ beside "
                                + beside.get() + "/: did you mean "
                                + nearestPart(wrong.getKey()).orElseThrow()
                                + "/? Rename it, or choose another --layout");
            }
        }
    }

    @Override
    public Dataset read(Path place) throws IOException {
        DatasetBuilder builder = new DatasetBuilder(place);
        Map<Part, Path> folders = parts(builder);
        Map<String, Part> partOfName = new HashMap<>();
        Map<Path, Set<String>> classes = new TreeMap<>();
        for (Map.Entry<Part, Path> folder : folders.entrySet()) {
            SortedMap<String, List<Path>> found = builder.classes(folder.getValue());
            classes.put(folder.getValue(), found.keySet());
            found.forEach((category, files) -> files.forEach(file -> {
                builder.add(category, file);
                partOfName.put(builder.name(file), folder.getKey());
            }));
        }
        Dataset dataset = builder.dataset(this, builder.split(partOfName));
        requireSameClasses(dataset, classes);
        return dataset;
    }

    private static Map<Part, Path> parts(DatasetBuilder builder) throws DatasetException {
        Path root = builder.root();
        Map<Part, Path> parts = new EnumMap<>(Part.class);
        Listing here = Listing.of(root);
        builder.noteOthers(here);
        builder.noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        for (Path folder : here.folders()) {
            Optional<Part> part = part(Listing.name(folder));
            Path other = part.isEmpty() ? null : parts.put(part.get(), folder);
            if (part.isEmpty()) {
                builder.noteUnused(folder);
            } else if (other != null) {
                throw new DatasetException(
                        root,
                        "expected one folder for " + part.get().word() + ", found '" + Listing.name(other) + "' and '"
                                + Listing.name(folder) + "'");
            }
        }
        Path validation = parts.get(Part.VALIDATION);
        if (validation != null && !parts.containsKey(Part.TEST)) {
            builder.note(Kind.VALIDATION_TESTS, builder.name(validation));
            parts.remove(Part.VALIDATION);
            parts.put(Part.TEST, validation);
        }
        if (!parts.containsKey(Part.TRAIN) || !parts.containsKey(Part.TEST)) {
            throw new DatasetException(root, "expected the folders train and test (or val), found " + parts.values());
        }
        return parts;
    }

    private static void requireSameClasses(Dataset dataset, Map<Path, Set<String>> classes) throws DatasetException {
        Set<String> all = new TreeSet<>();
        classes.values().forEach(all::addAll);
        List<String> missing = new ArrayList<>();
        classes.forEach((folder, found) -> all.stream()
                .filter(category -> !found.contains(category))
                .forEach(category -> missing.add("'" + category + "' in " + Listing.name(folder) + "/")));
        if (!missing.isEmpty()) {
            throw new DatasetException(
                    dataset.root(),
                    "expected images of every class in every split, found none of " + String.join(", ", missing),
                    dataset);
        }
    }
}
