package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample.Box;
import org.gramian.image.dataset.layout.DatasetBuilder.Entry;
import org.gramian.image.dataset.layout.DatasetBuilder.Listing;

/** Layout of a published dataset: folders and lists as in its archive. */
sealed interface PublishedLayout extends DatasetLayout {
    List<SplitPart> PARTS = List.of(SplitPart.TRAIN, SplitPart.VALIDATION, SplitPart.TEST);

    /**
     * The Flickr Material Database: {@code image/CLASS/*.jpg}, 10 classes of 100 images; the masks in {@code mask/} are not used.
     *
     * <p>Sharan, Rosenholtz, Adelson: Material perception: What can you see in a brief glance? Journal of Vision 9,
     * 2009.
     */
    record Fmd() implements PublishedLayout {
        private static final String IMAGES = "image";
        private static final String MASKS = "mask";
        private static final Set<String> CLASSES =
                Set.of("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone", "water", "wood");

        @Override
        public String text() {
            return "fmd";
        }

        /** Requires the masks or only FMD's classes, and no other folder with images: {@code image} is a common name. */
        @Override
        public boolean matches(Path place) throws IOException {
            Path images = place.resolve(IMAGES);
            if (!Files.isDirectory(images) || Listing.of(images).folders().isEmpty()) {
                return false;
            }
            boolean recognized = Files.isDirectory(place.resolve(MASKS))
                    || Listing.of(images).folders().stream().map(Listing::name).allMatch(CLASSES::contains);
            return recognized
                    && Listing.of(place).folders().stream()
                            .filter(folder -> !Set.of(IMAGES, MASKS).contains(Listing.name(folder)))
                            .noneMatch(Listing::holdsImages);
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            DatasetBuilder.requireFolder(place.resolve(IMAGES));
            builder.noteAround(place, IMAGES, MASKS);
            if (Files.isDirectory(place.resolve(MASKS))) {
                builder.note(Kind.MASKS, MASKS);
            }
            builder.addClasses(place.resolve(IMAGES));
            return builder.dataset(this, new Assignment.None());
        }
    }

    /**
     * KTH-TIPS-2b: {@code CLASS/sample_a/*.png} to {@code sample_d}, 11 classes of 4 physical samples with 108 images each. The
     * sample's letter is kept: images of one sample must not be on both sides of a split.
     *
     * <p>Caputo, Hayman, Mallikarjuna: Class-specific material categorisation, ICCV 2005.
     */
    record KthTips2b() implements PublishedLayout {
        private static final Pattern SAMPLE = Pattern.compile("sample_([a-z])");

        @Override
        public String text() {
            return "kth-tips-2b";
        }

        /** Requires a {@code sample_} folder in every class folder that is not empty. */
        @Override
        public boolean matches(Path place) throws IOException {
            boolean any = false;
            for (Path category : Files.isDirectory(place) ? Listing.of(place).folders() : List.<Path>of()) {
                Listing inside = Listing.of(category);
                boolean samples = inside.folders().stream().anyMatch(KthTips2b::isSample);
                if (!samples && !(inside.folders().isEmpty() && inside.images().isEmpty())) {
                    return false;
                }
                any |= samples;
            }
            return any;
        }

        private static boolean isSample(Path folder) {
            return SAMPLE.matcher(Listing.name(folder)).matches();
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            Map<String, String> letterOfName = new HashMap<>();
            for (Path category : builder.folders(place)) {
                int before = letterOfName.size();
                for (Path folder : builder.folders(category)) {
                    if (!isSample(folder)) {
                        builder.noteUnused(folder);
                        continue;
                    }
                    String letter = SAMPLE.matcher(Listing.name(folder)).replaceFirst("$1");
                    for (Path file : builder.images(folder)) {
                        builder.add(Listing.name(category), file);
                        letterOfName.put(builder.name(file), letter);
                    }
                }
                if (letterOfName.size() == before) {
                    builder.note(Kind.EMPTY_CLASSES, builder.name(category));
                }
            }
            return builder.dataset(
                    this, new Assignment.Groups(builder.inOrder(name -> letterOfName.getOrDefault(name, ""))));
        }
    }

    /**
     * The Describable Textures Dataset: {@code images/CLASS/CLASS_0001.jpg} and the lists {@code labels/train1.txt}, {@code
     * val1.txt}, {@code test1.txt} to {@code test10.txt}; 47 classes of 120 images, 10 splits into 40/40/40. A label is the class
     * folder; the further attributes of {@code labels_joint_anno.txt} are not used.
     *
     * <p>The lists may lie elsewhere, as {@code dtd:FOLDER}; the class folders may then lie in the root itself. Listed images that
     * are missing are noted.
     *
     * <p>Cimpoi, Maji, Kokkinos, Mohamed, Vedaldi: Describing textures in the wild, CVPR 2014.
     *
     * @param lists the folder of the lists, if it is not {@code labels}
     */
    record Dtd(Optional<Path> lists) implements PublishedLayout {
        private static final String IMAGES = "images";
        private static final String LABELS = "labels";
        private static final Pattern LIST = Pattern.compile("(?:train|val|test)([1-9]\\d{0,3})\\.txt");

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
            builder.addClasses(images);
            int prefix = images.equals(place) ? 0 : IMAGES.length() + 1;
            SortedMap<Integer, Map<String, SplitPart>> splits = splits(builder, lists.orElse(place.resolve(LABELS)));
            Map<String, String> listed = new HashMap<>();
            splits.values()
                    .forEach(parts ->
                            parts.keySet().forEach(name -> listed.put(name, name.substring(0, name.indexOf('/')))));
            builder.noteLists(
                    listed, Set.copyOf(builder.inOrder(name -> name.substring(prefix))), Kind.UNLISTED_IMAGES);
            List<Split> all = new ArrayList<>();
            splits.forEach((number, parts) -> all.add(new Split(
                    number.toString(),
                    builder.inOrder(name -> parts.getOrDefault(name.substring(prefix), SplitPart.UNUSED)))));
            return builder.dataset(this, new Assignment.Splits(all));
        }

        /** Returns the part of every listed image, by split number. */
        private static SortedMap<Integer, Map<String, SplitPart>> splits(DatasetBuilder builder, Path folder)
                throws DatasetException {
            DatasetBuilder.requireFolder(folder);
            SortedMap<Integer, Map<String, SplitPart>> splits = new TreeMap<>();
            for (Path file : Listing.of(folder).others()) {
                Matcher matcher = LIST.matcher(Listing.name(file));
                if (matcher.matches()) {
                    splits.put(Integer.valueOf(matcher.group(1)), new HashMap<>());
                }
            }
            if (splits.isEmpty()) {
                throw new DatasetException(
                        folder, "expected the lists train1.txt, val1.txt, test1.txt, ..., found none");
            }
            for (Map.Entry<Integer, Map<String, SplitPart>> split : splits.entrySet()) {
                for (SplitPart part : PARTS) {
                    readList(builder, folder.resolve(part.word() + split.getKey() + ".txt"), part, split.getValue());
                }
            }
            return splits;
        }

        private static void readList(
                DatasetBuilder builder, Path file, SplitPart part, Map<String, SplitPart> partOfName)
                throws DatasetException {
            for (ListLine line : ListLine.read(file)) {
                if (line.text().indexOf('/') < 1) {
                    throw line.wrong("expected CLASS/IMAGE, found '" + line.text() + "'");
                }
                SplitPart before = partOfName.put(line.text(), part);
                if (before == part) {
                    builder.note(Kind.REPEATED_ROWS, line.text() + " in " + Listing.name(file));
                } else if (before != null) {
                    throw line.wrong("expected every image in one list of a split, found '" + line.text()
                            + "' also in the list for " + before.word());
                }
            }
        }
    }

    /**
     * Caltech-UCSD Birds 200-2011: images below {@code images/}, and lists by number: {@code images.txt}, {@code
     * image_class_labels.txt}, {@code classes.txt}, {@code train_test_split.txt}, {@code bounding_boxes.txt}. 200 classes, 5,994
     * images to train and 5,794 to test. Boxes are optional and stay on the {@link org.gramian.image.dataset.Sample}.
     *
     * <p>Wah, Branson, Welinder, Perona, Belongie: The Caltech-UCSD Birds-200-2011 Dataset, CNS-TR-2011-001.
     */
    record Cub2002011() implements PublishedLayout {
        private static final String IMAGES = "images";
        private static final String PATHS = "images.txt";
        private static final String LABELS = "image_class_labels.txt";

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
            NumberedList split = NumberedList.read(place.resolve("train_test_split.txt"));
            NumberedList labels = NumberedList.read(place.resolve(LABELS));
            NumberedList names = NumberedList.read(place.resolve("classes.txt"));
            Map<String, Box> boxes = boxes(place.resolve("bounding_boxes.txt"));
            Map<String, String> listed = new HashMap<>();
            for (String id : paths.lines().keySet()) {
                String path = paths.text(id);
                String category = names.text(labels.text(id));
                if (listed.put(path, category) != null) {
                    throw paths.line(id).wrong("expected every image once, found '" + path + "' twice");
                }
                SplitPart part = part(split.line(id));
                Path file = present.get(path);
                if (file != null) {
                    builder.add(
                            new Entry(builder.name(file), category, file, Optional.ofNullable(boxes.get(id)), part));
                }
            }
            builder.noteLists(listed, present.keySet(), Kind.UNLABELLED_IMAGES);
            return builder.dataset(this, builder.split());
        }

        private static SplitPart part(ListLine line) throws DatasetException {
            return switch (line.fields(2, NumberedList.FORM)[1]) {
                case "1" -> SplitPart.TRAIN;
                case "0" -> SplitPart.TEST;
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
        private record NumberedList(Path file, Map<String, ListLine> lines) {
            static final String FORM = "NUMBER TEXT";

            static NumberedList read(Path file) throws DatasetException {
                Map<String, ListLine> lines = new LinkedHashMap<>();
                for (ListLine line : ListLine.read(file)) {
                    String id = line.fields(2, FORM)[0];
                    ListLine before = lines.put(id, line);
                    if (before != null) {
                        throw line.wrong(
                                "expected every number once, found " + id + " also on line " + before.number());
                    }
                }
                return new NumberedList(file, lines);
            }

            ListLine line(String id) throws DatasetException {
                ListLine line = lines.get(id);
                if (line == null) {
                    throw new DatasetException(file, "expected a line for number " + id + ", found none");
                }
                return line;
            }

            String text(String id) throws DatasetException {
                return line(id).fields(2, FORM)[1];
            }
        }
    }

    /**
     * FGVC-Aircraft: {@code data/images/*.jpg} and {@code data/images_variant_train.txt}, {@code _val}, {@code _test} with lines as
     * {@code 1025794 707-320}; the same for {@code family} and {@code manufacturer}. 100 variants, 70 families, 30 manufacturers;
     * 10,000 images in thirds. The root may also be the folder {@code data} itself.
     *
     * <p>Every image carries a banner of 20 rows at its bottom that names the photographer; it is left on.
     *
     * <p>Maji, Kannala, Rahtu, Blaschko, Vedaldi: Fine-grained visual classification of aircraft, arXiv:1306.5151.
     *
     * @param level of the classes: {@code variant}, {@code family} or {@code manufacturer}
     */
    record FgvcAircraft(String level) implements PublishedLayout {
        static final String VARIANT = "variant";
        private static final String IMAGES = "images";

        static FgvcAircraft parse(String level) {
            String word = level.strip().toLowerCase(Locale.ROOT);
            if (!Set.of(VARIANT, "family", "manufacturer").contains(word)) {
                throw new IllegalArgumentException(
                        "expected variant, family or manufacturer as the class level, found '" + level + "'");
            }
            return new FgvcAircraft(word);
        }

        @Override
        public String text() {
            return "fgvc-aircraft" + (level.equals(VARIANT) ? "" : ":" + level);
        }

        @Override
        public boolean matches(Path place) {
            return Files.isRegularFile(list(data(place), SplitPart.TRAIN));
        }

        private static Path data(Path place) {
            Path data = place.resolve("data");
            return Files.isDirectory(data) ? data : place;
        }

        private Path list(Path data, SplitPart part) {
            return data.resolve("images_" + level + "_" + part.word() + ".txt");
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            Path data = data(place);
            Path images = data.resolve(IMAGES);
            DatasetBuilder.requireFolder(images);
            builder.noteAround(data, IMAGES);
            Map<String, Path> present =
                    builder.images(images).stream().collect(Collectors.toMap(Listing::name, file -> file));
            Map<String, String> listed = new HashMap<>();
            for (SplitPart part : PARTS) {
                for (ListLine line : ListLine.read(list(data, part))) {
                    String[] fields = line.fields(2, "NUMBER CLASS");
                    String name = fields[0] + ".jpg";
                    if (listed.put(name, fields[1]) != null) {
                        throw line.wrong("expected every image in one list, found " + fields[0] + " twice");
                    }
                    Path file = present.get(name);
                    if (file != null) {
                        builder.add(fields[1], file, part);
                    }
                }
            }
            builder.noteLists(listed, present.keySet(), Kind.UNLABELLED_IMAGES);
            return builder.dataset(this, builder.split());
        }
    }

    /** A line of a published list, as {@code 1025794 707-320}, without space around it, and its number from 1. */
    record ListLine(Path file, int number, String text) {
        /** Returns the lines that are not blank; accepts any line ends and a byte-order mark. */
        static List<ListLine> read(Path file) throws DatasetException {
            List<ListLine> lines = new ArrayList<>();
            int number = 0;
            for (String line : DatasetBuilder.text(file).split("\r\n|\n|\r", -1)) {
                number++;
                if (!line.isBlank()) {
                    lines.add(new ListLine(file, number, line.strip()));
                }
            }
            return lines;
        }

        /** Splits the line at whitespace into a number of fields; the last may contain whitespace. */
        String[] fields(int count, String form) throws DatasetException {
            String[] fields = text.split("\\s+", count);
            if (fields.length < count) {
                throw wrong("expected '" + form + "', found '" + text + "'");
            }
            return fields;
        }

        DatasetException wrong(String problem) {
            return new DatasetException(file, "line " + number + ": " + problem);
        }
    }
}
