package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.PaintedImages;
import org.gramian.train.loop.TrainingData.Parts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Painted images of a few classes, divided into parts, and a training of the standard recipe on them. */
abstract class PaintedParts {
    @TempDir
    Path folder = Path.of("");

    Parts parts = new Parts(List.of(new Sample("none", 0, folder)), List.of(), List.of());
    SmallTraining training = SmallTraining.of(Recipes.standard(), parts);

    private final int[] images;

    PaintedParts() {
        this(5, 6, 7);
    }

    /** @param images number of each class */
    PaintedParts(int... images) {
        this.images = images;
    }

    @BeforeEach
    void paint() throws IOException {
        parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), images));
        training = SmallTraining.of(Recipes.standard(), parts);
    }
}
