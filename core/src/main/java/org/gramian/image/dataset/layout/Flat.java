package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;

/**
 * Images without classes, at any depth below a folder, or a single one, all under the one label {@value #UNLABELLED}: enough to compute
 * features, too little to train on, which protocols refuse. It is taken only where it is asked for, or no class is needed.
 */
public record Flat() implements Layout {
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
        Survey survey = new Survey(place);
        collect(survey, place);
        if (survey.entries().isEmpty()) {
            throw new DatasetException(place, "expected images in this folder or below it, found none");
        }
        return survey.whole(this, new Assignment.None());
    }

    private Dataset single(Path file) throws IOException {
        Survey survey = new Survey(Objects.requireNonNull(file.getParent(), "only a folder has no parent"));
        survey.add(UNLABELLED, file);
        return survey.whole(this, new Assignment.None());
    }

    /** Links to folders are not entered: they may lead back. */
    private static void collect(Survey survey, Path folder) throws DatasetException {
        Listing inside = Listing.of(folder);
        survey.noteOthers(inside);
        inside.images().forEach(file -> survey.add(UNLABELLED, file));
        for (Path deeper : inside.folders()) {
            if (!Files.isSymbolicLink(deeper)) {
                collect(survey, deeper);
            }
        }
    }
}
