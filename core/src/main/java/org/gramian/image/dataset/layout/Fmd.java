package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note.Kind;

/**
 * The Flickr Material Database as published: {@code image/CLASS/*.jpg}, 10 classes of 100 pictures; the masks in
 * {@code mask/} are not used.
 *
 * <p>Sharan, Rosenholtz, Adelson: Material perception: What can you see in a brief glance? Journal of Vision 9, 2009.
 */
public record Fmd() implements Layout {
    private static final String IMAGES = "image";
    private static final String MASKS = "mask";

    @Override
    public String text() {
        return "fmd";
    }

    @Override
    public boolean matches(Path place) throws IOException {
        Path images = place.resolve(IMAGES);
        return Files.isDirectory(images) && !Listing.of(images).folders().isEmpty();
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
