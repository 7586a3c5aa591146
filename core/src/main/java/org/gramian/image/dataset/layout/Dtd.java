package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/**
 * The Describable Textures Dataset as published: {@code images/CLASS/CLASS_0001.jpg} and the lists
 * {@code labels/train1.txt}, {@code val1.txt}, {@code test1.txt} to {@code test10.txt}; 47 classes of 120 images, 10
 * splits into 40/40/40. A label is the class folder; the further attributes of {@code labels_joint_anno.txt} are not
 * used.
 *
 * <p>The lists may lie elsewhere, as {@code dtd:FOLDER}; the class folders may then lie in the root itself. Lists may
 * name more than there is: they are used for what is there, and the rest is noted.
 *
 * <p>Cimpoi, Maji, Kokkinos, Mohamed, Vedaldi: Describing textures in the wild, CVPR 2014.
 *
 * @param lists the folder of the lists, if it is not {@code labels}
 */
public record Dtd(Optional<Path> lists) implements Layout {
    private static final String IMAGES = "images";
    private static final String LABELS = "labels";

    /** The layout as published. */
    public Dtd() {
        this(Optional.empty());
    }

    @Override
    public String text() {
        return "dtd" + lists.map(folder -> ":" + folder).orElse("");
    }

    @Override
    public boolean matches(Path place) {
        return Files.isDirectory(place.resolve(IMAGES))
                && Files.isRegularFile(place.resolve(LABELS).resolve("train1.txt"));
    }

    @Override
    public Dataset read(Path place) throws IOException {
        Survey survey = new Survey(place);
        Path images = place.resolve(IMAGES);
        if (lists.isPresent() && !Files.isDirectory(images)) {
            images = place;
        } else {
            Published.requireFolder(images);
            Published.noteAround(survey, place, IMAGES, LABELS, "imdb");
        }
        SortedMap<String, List<Path>> classes = survey.classes(images);
        classes.forEach((category, files) -> files.forEach(file -> survey.add(category, file)));
        List<Entry> entries = survey.entries();
        String before = images.equals(place) ? "" : IMAGES + "/";
        SortedMap<Integer, Map<String, Part>> splits = DtdLists.read(survey, lists.orElse(place.resolve(LABELS)));
        Map<String, String> listed = new HashMap<>();
        splits.values().forEach(parts -> parts.keySet().forEach(name -> listed.put(name, DtdLists.category(name))));
        Set<String> present = new HashSet<>();
        entries.forEach(entry -> present.add(entry.name().substring(before.length())));
        survey.noteAbsent(listed, present, classes.keySet());
        present.stream()
                .filter(name -> !listed.containsKey(name))
                .forEach(name -> survey.note(Kind.UNLISTED_PICTURES, name));
        List<Split> all = splits.entrySet().stream()
                .map(split -> new Split(
                        split.getKey().toString(),
                        entries.stream()
                                .map(entry -> split.getValue()
                                        .getOrDefault(entry.name().substring(before.length()), Part.UNUSED))
                                .toList()))
                .toList();
        return survey.dataset(this, new Assignment.Splits(all));
    }
}
