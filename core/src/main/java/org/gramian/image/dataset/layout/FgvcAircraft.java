package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;

/**
 * FGVC-Aircraft as published: {@code data/images/*.jpg} and {@code data/images_variant_train.txt}, {@code _val},
 * {@code _test} with lines as {@code 1025794 707-320}; the same for {@code family} and {@code manufacturer}. 100
 * variants, 70 families, 30 manufacturers; 10,000 images in thirds. The root may also be the folder {@code data}
 * itself.
 *
 * <p>Every image carries a banner of 20 rows at its bottom that names the photographer; it is left on.
 *
 * <p>Maji, Kannala, Rahtu, Blaschko, Vedaldi: Fine-grained visual classification of aircraft, arXiv:1306.5151.
 *
 * @param level the level of the classes
 */
record FgvcAircraft(Level level) implements Layout {
    /** Class levels, from fine to coarse. */
    public enum Level {
        VARIANT,
        FAMILY,
        MANUFACTURER;

        /** The level's name in file names. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String NAME = "fgvc-aircraft";
    private static final String IMAGES = "images";

    @Override
    public String text() {
        return level == Level.VARIANT ? NAME : NAME + ":" + level.word();
    }

    @Override
    public boolean matches(Path place) {
        return Files.isRegularFile(list(data(place), Part.TRAIN));
    }

    private static Path data(Path place) {
        Path data = place.resolve("data");
        return Files.isDirectory(data) ? data : place;
    }

    private Path list(Path data, Part part) {
        return data.resolve("images_" + level.word() + "_" + part.word() + ".txt");
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
        Map<String, Part> partOfName = new HashMap<>();
        Set<String> presentClasses = new HashSet<>();
        for (Part part : List.of(Part.TRAIN, Part.VALIDATION, Part.TEST)) {
            for (ListLine line : ListLine.read(list(data, part))) {
                String[] fields = line.fields(2, "NUMBER CLASS");
                String name = fields[0] + ".jpg";
                if (listed.put(name, fields[1]) != null) {
                    throw line.wrong("expected every image in one list, found " + fields[0] + " twice");
                }
                Path file = present.get(name);
                if (file != null) {
                    builder.add(fields[1], file);
                    partOfName.put(builder.name(file), part);
                    presentClasses.add(fields[1]);
                }
            }
        }
        builder.noteAbsent(listed, present.keySet(), presentClasses);
        builder.noteUnlisted(Kind.UNLABELLED_IMAGES, present.keySet(), listed.keySet());
        return builder.dataset(this, builder.split(partOfName));
    }
}
