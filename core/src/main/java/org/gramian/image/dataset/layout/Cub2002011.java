package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.image.dataset.Box;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.layout.DatasetBuilder.Entry;

/**
 * Caltech-UCSD Birds 200-2011 as published: images below {@code images/}, and lists by number: {@code images.txt},
 * {@code image_class_labels.txt}, {@code classes.txt}, {@code train_test_split.txt}, {@code bounding_boxes.txt}. 200
 * classes, 5,994 images to train and 5,794 to test. Boxes are optional and stay on the {@link
 * org.gramian.image.dataset.Sample}.
 *
 * <p>Wah, Branson, Welinder, Perona, Belongie: The Caltech-UCSD Birds-200-2011 Dataset, CNS-TR-2011-001.
 */
record Cub2002011() implements Layout {
    private static final String IMAGES = "images";
    private static final String PATHS = "images.txt";
    private static final String LABELS = "image_class_labels.txt";
    private static final String CLASSES = "classes.txt";
    private static final String SPLIT = "train_test_split.txt";
    private static final String BOXES = "bounding_boxes.txt";

    @Override
    public String text() {
        return "cub-200-2011";
    }

    @Override
    public boolean matches(Path place) {
        return Files.isRegularFile(place.resolve(PATHS)) && Files.isRegularFile(place.resolve(LABELS));
    }

    @Override
    public Dataset read(Path place) throws IOException {
        DatasetBuilder builder = new DatasetBuilder(place);
        Path images = place.resolve(IMAGES);
        DatasetBuilder.requireFolder(images);
        builder.noteAround(place, IMAGES, "attributes", "parts");
        Map<String, Path> present = builder.classes(images).values().stream()
                .flatMap(List::stream)
                .collect(Collectors.toMap(file -> builder.name(file).substring(IMAGES.length() + 1), file -> file));
        NumberedList paths = NumberedList.read(place.resolve(PATHS));
        NumberedList split = NumberedList.read(place.resolve(SPLIT));
        Map<String, String> classOfId = classes(place, paths);
        Map<String, Box> boxes = boxes(place.resolve(BOXES));
        Map<String, String> listed = new HashMap<>();
        Map<String, Part> partOfName = new HashMap<>();
        Set<String> presentClasses = new HashSet<>();
        for (String id : paths.ids()) {
            String path = paths.text(id);
            String category = Optional.ofNullable(classOfId.get(id)).orElseThrow();
            if (listed.put(path, category) != null) {
                throw paths.line(id).wrong("expected every image once, found '" + path + "' twice");
            }
            Part part = part(split.line(id));
            Path file = present.get(path);
            if (file != null) {
                builder.add(new Entry(builder.name(file), category, file, Optional.ofNullable(boxes.get(id))));
                partOfName.put(builder.name(file), part);
                presentClasses.add(category);
            }
        }
        builder.noteAbsent(listed, present.keySet(), presentClasses);
        builder.noteUnlisted(Kind.UNLABELLED_IMAGES, present.keySet(), listed.keySet());
        return builder.dataset(this, builder.split(partOfName));
    }

    private static Map<String, String> classes(Path place, NumberedList paths) throws DatasetException {
        NumberedList labels = NumberedList.read(place.resolve(LABELS));
        NumberedList names = NumberedList.read(place.resolve(CLASSES));
        Map<String, String> classOfId = new HashMap<>();
        for (String id : paths.ids()) {
            classOfId.put(id, names.text(labels.text(id)));
        }
        return classOfId;
    }

    private static Part part(ListLine line) throws DatasetException {
        return switch (line.fields(2, NumberedList.FORM)[1]) {
            case "1" -> Part.TRAIN;
            case "0" -> Part.TEST;
            default ->
                throw line.wrong("expected 'NUMBER 1' (train) or 'NUMBER 0' (test), found '" + line.text() + "'");
        };
    }

    private static Map<String, Box> boxes(Path file) throws DatasetException {
        Map<String, Box> boxes = new HashMap<>();
        for (ListLine line : Files.exists(file) ? ListLine.read(file) : List.<ListLine>of()) {
            String[] fields = line.fields(5, "NUMBER X Y WIDTH HEIGHT");
            try {
                double[] box = Arrays.stream(fields, 1, 5)
                        .mapToDouble(Double::parseDouble)
                        .toArray();
                boxes.put(fields[0], new Box(box[0], box[1], box[2], box[3]));
            } catch (IllegalArgumentException wrong) {
                throw line.wrong("expected 'NUMBER X Y WIDTH HEIGHT' with X, Y >= 0 and a size above 0, found '"
                        + line.text() + "'");
            }
        }
        return boxes;
    }

    /** A published list of {@code NUMBER TEXT}, in which every number stands once. */
    private static final class NumberedList {
        static final String FORM = "NUMBER TEXT";

        private final Path file;
        private final Map<String, ListLine> lines;

        private NumberedList(Path file, Map<String, ListLine> lines) {
            this.file = file;
            this.lines = lines;
        }

        static NumberedList read(Path file) throws DatasetException {
            Map<String, ListLine> lines = new LinkedHashMap<>();
            for (ListLine line : ListLine.read(file)) {
                String id = line.fields(2, FORM)[0];
                ListLine before = lines.put(id, line);
                if (before != null) {
                    throw line.wrong("expected every number once, found " + id + " also on line " + before.number());
                }
            }
            return new NumberedList(file, lines);
        }

        /** The numbers, in the order of the list. */
        Set<String> ids() {
            return lines.keySet();
        }

        /** The line of a number that other lists know. */
        ListLine line(String id) throws DatasetException {
            ListLine line = lines.get(id);
            if (line == null) {
                throw new DatasetException(file, "expected a line for number " + id + ", found none");
            }
            return line;
        }

        /** Returns the text of a number that other lists contain. */
        String text(String id) throws DatasetException {
            return line(id).fields(2, FORM)[1];
        }
    }
}
