package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;

/** A folder per class with the images directly in it: {@code wood/a.jpg}, {@code stone/b.jpg}. */
public record Folders() implements Layout {
    @Override
    public String text() {
        return "folders";
    }

    /** Any folder may be read so; it is what remains where no published layout matches. */
    @Override
    public boolean matches(Path place) {
        return Files.isDirectory(place);
    }

    @Override
    public Dataset read(Path place) throws IOException {
        Survey survey = new Survey(place);
        requireFolders(place);
        survey.classes(place).forEach((category, files) -> files.forEach(file -> survey.add(category, file)));
        return survey.dataset(this, new Assignment.None());
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
