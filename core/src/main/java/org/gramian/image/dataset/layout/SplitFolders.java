package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;

/**
 * The folders {@code train}, {@code val} (or {@code valid}, {@code validation}) and {@code test}, each with the same
 * class folders: {@code train/wood/a.jpg}, {@code test/wood/b.jpg}.
 *
 * <p>A label is the class name over all parts; a class that one part lacks is an error. Where there is no {@code test},
 * {@code val} becomes the test set, and a note reports it.
 */
public record SplitFolders() implements Layout {
    @Override
    public String text() {
        return "splits";
    }

    @Override
    public boolean matches(Path place) throws IOException {
        Set<Part> withClasses = new TreeSet<>();
        for (Path folder : Files.isDirectory(place) ? Listing.of(place).folders() : List.<Path>of()) {
            Optional<Part> part = PartNames.of(Listing.name(folder));
            if (part.isPresent() && !Listing.of(folder).folders().isEmpty()) {
                withClasses.add(part.get());
            }
        }
        return withClasses.size() >= 2 && withClasses.contains(Part.TRAIN);
    }

    /**
     * Refuses a folder whose name is nearly that of a split, as {@code trian} beside {@code test}: its images would take no
     * part, or {@code train} and {@code tests} would be read as classes. Both must hold a class of the same name.
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
            boolean part = PartNames.of(name).isPresent();
            if (part || PartNames.near(name).isPresent()) {
                Listing inside = Listing.of(folder);
                Set<String> classes = new TreeSet<>();
                inside.folders().forEach(one -> classes.add(Listing.name(one)));
                if (!classes.isEmpty() && inside.images().isEmpty()) {
                    (part ? named : misspelt).put(name, classes);
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
                                + PartNames.near(wrong.getKey()).orElseThrow()
                                + "/? Rename it, or choose another --layout");
            }
        }
    }

    @Override
    public Dataset read(Path place) throws IOException {
        Survey survey = new Survey(place);
        Map<Part, Path> folders = parts(survey);
        Map<String, Part> partOfName = new HashMap<>();
        Map<Path, Set<String>> classes = new TreeMap<>();
        for (Map.Entry<Part, Path> folder : folders.entrySet()) {
            SortedMap<String, List<Path>> found = survey.classes(folder.getValue());
            classes.put(folder.getValue(), found.keySet());
            found.forEach((category, files) -> files.forEach(file -> {
                survey.add(category, file);
                partOfName.put(survey.name(file), folder.getKey());
            }));
        }
        Dataset dataset = survey.dataset(this, Published.split(survey, partOfName));
        requireSameClasses(dataset, classes);
        return dataset;
    }

    private static Map<Part, Path> parts(Survey survey) throws DatasetException {
        Path root = survey.root();
        Map<Part, Path> parts = new EnumMap<>(Part.class);
        Listing here = Listing.of(root);
        survey.noteOthers(here);
        survey.noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        for (Path folder : here.folders()) {
            Optional<Part> part = PartNames.of(Listing.name(folder));
            Path other = part.isEmpty() ? null : parts.put(part.get(), folder);
            if (part.isEmpty()) {
                survey.noteUnused(folder);
            } else if (other != null) {
                throw new DatasetException(
                        root,
                        "expected one folder for " + part.get().word() + ", found '" + Listing.name(other) + "' and '"
                                + Listing.name(folder) + "'");
            }
        }
        Path validation = parts.get(Part.VALIDATION);
        if (validation != null && !parts.containsKey(Part.TEST)) {
            survey.note(Kind.VALIDATION_TESTS, survey.name(validation));
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
