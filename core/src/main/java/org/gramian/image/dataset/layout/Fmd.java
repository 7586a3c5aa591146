package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note.Kind;

/**
 * The Flickr Material Database as published: {@code image/CLASS/*.jpg}, 10 classes of 100 images; the masks in
 * {@code mask/} are not used.
 *
 * <p>Sharan, Rosenholtz, Adelson: Material perception: What can you see in a brief glance? Journal of Vision 9, 2009.
 */
public record Fmd() implements Layout {
    private static final String IMAGES = "image";
    private static final String MASKS = "mask";
    private static final Set<String> CLASSES =
            Set.of("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone", "water", "wood");

    @Override
    public String text() {
        return "fmd";
    }

    /**
     * Many a folder is called {@code image}: either the masks lie beside it or all its classes are FMD's, and nothing else
     * with images lies there.
     */
    @Override
    public boolean matches(Path place) throws IOException {
        Path images = place.resolve(IMAGES);
        if (!Files.isDirectory(images) || Listing.of(images).folders().isEmpty()) {
            return false;
        }
        boolean signs = Files.isDirectory(place.resolve(MASKS))
                || Listing.of(images).folders().stream().map(Listing::name).allMatch(CLASSES::contains);
        return signs
                && Listing.of(place).folders().stream()
                        .filter(folder -> !Set.of(IMAGES, MASKS).contains(Listing.name(folder)))
                        .noneMatch(Listing::holdsImages);
    }

    @Override
    public Dataset read(Path place) throws IOException {
        Survey survey = new Survey(place);
        Published.requireFolder(place.resolve(IMAGES));
        Published.noteAround(survey, place, IMAGES, MASKS);
        if (Files.isDirectory(place.resolve(MASKS))) {
            survey.note(Kind.MASKS, MASKS);
        }
        survey.classes(place.resolve(IMAGES))
                .forEach((category, files) -> files.forEach(file -> survey.add(category, file)));
        return survey.dataset(this, new Assignment.None());
    }
}
