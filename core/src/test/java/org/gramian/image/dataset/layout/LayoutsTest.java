package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

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

    @Test
    void everyLayoutHasDescriptionAndParses() {
        assertThat(Layouts.all()).hasSize(9).allSatisfy(layout -> {
            assertThat(Layouts.parse(layout.name()).text()).isEqualTo(layout.name());
            assertThat(layout.form()).startsWith(layout.name());
            assertThat(layout.looks()).isNotBlank();
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        fdm | fdm fmd fmd folders splits csv
        fmd:x | fmd fmd:x
        dtd: | dtd[: dtd:
        fgvc-aircraft:wing | variant family manufacturer wing
        """)
    void rejectsInvalidText(String text, String values) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Layouts.parse(text))
                .has(facts((Object[]) values.split(" ")));
    }

    @Test
    void rejectsPathsThatAreNotDatasets() throws IOException {
        Path nothing = root.resolve("nothing");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(nothing))
                .has(facts(nothing, "CSV"));
        Path file = Files.writeString(root.resolve("file.txt"), "");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(file))
                .has(facts(file, "*.csv"));
        for (Layouts.Description layout : Layouts.all()) {
            assertThatExceptionOfType(DatasetException.class)
                    .isThrownBy(() -> Layouts.parse(layout.name()).read(nothing))
                    .has(facts(nothing));
        }
    }

    @Test
    void rejectsAmbiguousLayouts() throws IOException {
        DatasetTrees.dtd(root, 3, "a", "b");
        DatasetTrees.file(root, "images.txt", "");
        DatasetTrees.file(root, "image_class_labels.txt", "");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .has(facts(root, "dtd", "cub-200-2011"));
        Dataset chosen = Layouts.parse("dtd").read(root);
        assertThat(chosen.counts()).containsExactly(3, 3);
    }
}
