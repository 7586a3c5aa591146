package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.gramian.model.Engine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is computed of one picture, and how often. */
class PictureWorkTest {
    @TempDir
    private Path folder;

    @Test
    void scoresAndDescriptorsOfAPictureAreComputedInOnePass() throws Exception {
        List<Set<Engine.Rows>> passes = new ArrayList<>();
        LoadedModel model =
                Served.computedBy(ModelWithGallery.load(folder), engine -> (crops, shape, wanted) -> {
                    passes.add(wanted);
                    return engine.compute(crops, shape, wanted);
                });
        try (Served served = Served.start(model, ServeOptions.local(0))) {
            served.post("/v1/predict?nearest=2", "image/png", Served.png(1));
            served.post("/v1/predict", "image/png", Served.png(1));
        }
        assertThat(passes).containsExactly(EnumSet.allOf(Engine.Rows.class), EnumSet.of(Engine.Rows.SCORES));
    }
}
