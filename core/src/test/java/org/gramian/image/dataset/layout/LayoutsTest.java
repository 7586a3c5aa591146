package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LayoutsTest {
    @TempDir
    Path root;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        fdm | fdm fmd fmd folders splits csv
        fmd:x | fmd fmd:x
        dtd: | dtd[: dtd:
        fgvc-aircraft:wing | variant family manufacturer wing
        """)
    void rejectsInvalidText(String text, String values) {
        assertRejected(() -> Layouts.parse(text), (Object[]) values.split(" "));
    }

    @Test
    void rejectsPathsThatAreNotDatasets() throws IOException {
        Path nothing = root.resolve("nothing");
        assertRejected(DatasetException.class, () -> Layouts.open(nothing), nothing, "CSV");
        Path file = Files.writeString(root.resolve("file.txt"), "");
        assertRejected(DatasetException.class, () -> Layouts.open(file), file, "*.csv");
        for (Layouts.Description layout : Layouts.all()) {
            assertRejected(
                    DatasetException.class, () -> Layouts.parse(layout.name()).read(nothing), nothing);
        }
    }

    @Test
    void rejectsAmbiguousLayouts() throws IOException {
        DatasetTrees.dtd(root, 3, "a", "b");
        DatasetTrees.file(root, "images.txt", "");
        DatasetTrees.file(root, "image_class_labels.txt", "");
        assertRejected(DatasetException.class, () -> Layouts.open(root), root, "dtd", "cub-200-2011");
        Dataset chosen = Layouts.parse("dtd").read(root);
        assertThat(chosen.counts()).containsExactly(3, 3);
    }
}
