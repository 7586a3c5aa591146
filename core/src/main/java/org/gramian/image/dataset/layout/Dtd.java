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
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;
import org.gramian.image.dataset.layout.DatasetBuilder.Entry;

/**
 * The Describable Textures Dataset as published: {@code images/CLASS/CLASS_0001.jpg} and the lists
 * {@code labels/train1.txt}, {@code val1.txt}, {@code test1.txt} to {@code test10.txt}; 47 classes of 120 images, 10
 * splits into 40/40/40. A label is the class folder; the further attributes of {@code labels_joint_anno.txt} are not
 * used.
 *
 * <p>The lists may lie elsewhere, as {@code dtd:FOLDER}; the class folders may then lie in the root itself. Listed images that
 * are missing are noted.
 *
 * <p>Cimpoi, Maji, Kokkinos, Mohamed, Vedaldi: Describing textures in the wild, CVPR 2014.
 *
 * @param lists the folder of the lists, if it is not {@code labels}
 */
record Dtd(Optional<Path> lists) implements Layout {
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
        DatasetBuilder builder = new DatasetBuilder(place);
        Path images = place.resolve(IMAGES);
        if (lists.isPresent() && !Files.isDirectory(images)) {
            images = place;
        } else {
            DatasetBuilder.requireFolder(images);
            builder.noteAround(place, IMAGES, LABELS, "imdb");
        }
        SortedMap<String, List<Path>> classes = builder.classes(images);
        classes.forEach((category, files) -> files.forEach(file -> builder.add(category, file)));
        List<Entry> entries = builder.entries();
        String before = images.equals(place) ? "" : IMAGES + "/";
        SortedMap<Integer, Map<String, Part>> splits = DtdLists.read(builder, lists.orElse(place.resolve(LABELS)));
        Map<String, String> listed = new HashMap<>();
        splits.values().forEach(parts -> parts.keySet().forEach(name -> listed.put(name, DtdLists.category(name))));
        Set<String> present = new HashSet<>();
        entries.forEach(entry -> present.add(entry.name().substring(before.length())));
        builder.noteAbsent(listed, present, classes.keySet());
        builder.noteUnlisted(Kind.UNLISTED_IMAGES, present, listed.keySet());
        List<Split> all = splits.entrySet().stream()
                .map(split -> new Split(
                        split.getKey().toString(),
                        entries.stream()
                                .map(entry -> split.getValue()
                                        .getOrDefault(entry.name().substring(before.length()), Part.UNUSED))
                                .toList()))
                .toList();
        return builder.dataset(this, new Assignment.Splits(all));
    }

    /** The split lists of DTD: {@code train1.txt}, {@code val1.txt}, {@code test1.txt}, and so on. */
    private static final class DtdLists {
        private static final Pattern NAME = Pattern.compile("(?:train|val|test)([1-9]\\d{0,3})\\.txt");

        private static final List<Part> PARTS = List.of(Part.TRAIN, Part.VALIDATION, Part.TEST);

        private DtdLists() {}

        /** Returns the part of every listed image, by split number. */
        static SortedMap<Integer, Map<String, Part>> read(DatasetBuilder builder, Path folder) throws DatasetException {
            DatasetBuilder.requireFolder(folder);
            SortedSet<Integer> numbers = new TreeSet<>();
            for (Path file : Listing.of(folder).others()) {
                Matcher matcher = NAME.matcher(Listing.name(file));
                if (matcher.matches()) {
                    numbers.add(Integer.valueOf(matcher.group(1)));
                }
            }
            if (numbers.isEmpty()) {
                throw new DatasetException(
                        folder, "expected the lists train1.txt, val1.txt, test1.txt, ..., found none");
            }
            SortedMap<Integer, Map<String, Part>> splits = new TreeMap<>();
            for (int number : numbers) {
                Map<String, Part> partOfName = new HashMap<>();
                for (Part part : PARTS) {
                    readList(builder, folder.resolve(part.word() + number + ".txt"), part, partOfName);
                }
                splits.put(number, partOfName);
            }
            return splits;
        }

        private static void readList(DatasetBuilder builder, Path file, Part part, Map<String, Part> partOfName)
                throws DatasetException {
            for (ListLine line : ListLine.read(file)) {
                if (line.text().indexOf('/') < 1) {
                    throw line.wrong("expected CLASS/IMAGE, found '" + line.text() + "'");
                }
                Part before = partOfName.put(line.text(), part);
                if (before == part) {
                    builder.note(Kind.REPEATED_ROWS, line.text() + " in " + Listing.name(file));
                } else if (before != null) {
                    throw line.wrong("expected every image in one list of a split, found '" + line.text()
                            + "' also in the list for " + before.word());
                }
            }
        }

        /** The class of a listed image, {@code banded} of {@code banded/banded_0002.jpg}. */
        static String category(String listed) {
            return listed.substring(0, listed.indexOf('/'));
        }
    }
}
