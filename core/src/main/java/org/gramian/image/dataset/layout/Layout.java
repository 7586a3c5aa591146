package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;

/**
 * A layout of a dataset on disk.
 *
 * <p>Files outside the layout become {@link org.gramian.image.dataset.Note}s, contradictions a {@link
 * org.gramian.image.dataset.DatasetException}.
 */
public sealed interface Layout
        permits Layout.Folders,
                Layout.Flat,
                Layout.Fmd,
                Layout.KthTips2b,
                SplitFolders,
                Dtd,
                Cub2002011,
                FgvcAircraft,
                Csv {
    /** Returns the layout as text, {@code name} or {@code name:argument}; {@link Layouts#parse} reads it back. */
    String text();

    /** Returns whether a folder or file seems to have this layout, judged by a few files and folders. */
    boolean matches(Path place) throws IOException;

    /** Reads names and labels; decodes no image. */
    Dataset read(Path place) throws IOException;

    /** A folder per class with the images directly in it: {@code wood/a.jpg}, {@code stone/b.jpg}. */
    record Folders() implements Layout {
        @Override
        public String text() {
            return "folders";
        }

        /** Matches any folder: the fallback where no other layout matches. */
        @Override
        public boolean matches(Path place) {
            return Files.isDirectory(place);
        }

        @Override
        public Dataset read(Path place) throws IOException {
            DatasetBuilder builder = new DatasetBuilder(place);
            requireFolders(place);
            builder.addClasses(place);
            return builder.dataset(this, new Assignment.None());
        }

        private static void requireFolders(Path place) throws DatasetException {
            Listing here = Listing.of(place);
            if (here.folders().isEmpty()) {
                String found = here.images().isEmpty()
                        ? here.others().isEmpty() ? "an empty folder" : "neither folders nor images"
                        : here.images().size() + " images outside class folders";
                throw new DatasetException(
                        place,
                        "expected a folder for every class, as in CLASS/IMAGE.jpg, found " + found
                                + "; or pass a CSV file with the columns path,label"
                                + (here.images().isEmpty() ? "" : "; for features without classes use --layout flat"));
            }
        }
    }

    /**
     * Images without classes, at any depth below a folder, or a single image, all with the label {@value #UNLABELLED}: for
     * features and predictions, not for training. Used only if requested, or where no classes are needed.
     */
    record Flat() implements Layout {
        static final String UNLABELLED = "unlabelled";

        @Override
        public String text() {
            return "flat";
        }

        @Override
        public boolean matches(Path place) {
            return Files.isDirectory(place);
        }

        @Override
        public Dataset read(Path place) throws IOException {
            if (Files.isRegularFile(place)) {
                return single(place.toAbsolutePath());
            }
            DatasetBuilder builder = new DatasetBuilder(place);
            collect(builder, place);
            if (builder.entries().isEmpty()) {
                throw new DatasetException(place, "expected images in this folder or below it, found none");
            }
            return builder.anyClasses(this, new Assignment.None());
        }

        private Dataset single(Path file) throws IOException {
            DatasetBuilder builder =
                    new DatasetBuilder(Objects.requireNonNull(file.getParent(), "only a folder has no parent"));
            builder.add(UNLABELLED, file);
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
     * The Flickr Material Database as published: {@code image/CLASS/*.jpg}, 10 classes of 100 images; the masks in
     * {@code mask/} are not used.
     *
     * <p>Sharan, Rosenholtz, Adelson: Material perception: What can you see in a brief glance? Journal of Vision 9,
     * 2009.
     */
    record Fmd() implements Layout {
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
     * KTH-TIPS-2b as published: {@code CLASS/sample_a/*.png} to {@code sample_d}, 11 classes of 4 physical samples with
     * 108 images each. The sample's letter is kept: images of one sample must not be on both sides of a split.
     *
     * <p>Caputo, Hayman, Mallikarjuna: Class-specific material categorisation, ICCV 2005.
     */
    record KthTips2b() implements Layout {
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
            Listing here = Listing.of(place);
            builder.noteOthers(here);
            builder.noteAll(Kind.OUTSIDE_LAYOUT, here.images());
            for (Path category : here.folders()) {
                int before = letterOfName.size();
                readClass(builder, category, letterOfName);
                if (letterOfName.size() == before) {
                    builder.note(Kind.EMPTY_CLASSES, builder.name(category));
                }
            }
            List<String> letters = builder.entries().stream()
                    .map(entry -> letterOfName.getOrDefault(entry.name(), ""))
                    .toList();
            return builder.dataset(this, new Assignment.Groups(letters));
        }

        private static void readClass(DatasetBuilder builder, Path category, Map<String, String> letterOfName)
                throws DatasetException {
            Listing inside = Listing.of(category);
            builder.noteOthers(inside);
            builder.noteAll(Kind.OUTSIDE_LAYOUT, inside.images());
            for (Path folder : inside.folders()) {
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
        }
    }
}
