package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.run.config.Settings;
import org.junit.jupiter.api.Test;

class TablePresetTest {
    private static final List<String> MATERIALS =
            List.of("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone", "water", "wood");

    private static Optional<PaperData> recognized(List<String> classes, int images, String layout) {
        List<Sample> samples = IntStream.range(0, images)
                .mapToObj(i -> new Sample("p" + i, i % classes.size(), Path.of("p" + i)))
                .toList();
        Dataset.Source source = new Dataset.Source(layout, new Assignment.None(), List.of());
        return PaperData.of(new Dataset(Path.of("x"), classes, samples, source));
    }

    private static List<String> classes(int count) {
        return IntStream.range(0, count).mapToObj(i -> "c" + i).toList();
    }

    @Test
    void familyHasSecondOrderMethods() {
        assertThat(TablePreset.FAMILY.rows())
                .extracting(TableRow::name)
                .contains("average", "bcnn", "isqrt", "default")
                .doesNotContain("paper-kernel", "cross-layer")
                .doesNotHaveDuplicates();
        assertThatThrownBy(() -> TablePreset.parse("table3")).has(facts("table1", "table2", "family", "table3"));
    }

    @Test
    void rowsOfPaperHaveFigures() {
        for (TablePreset preset : List.of(TablePreset.TABLE1, TablePreset.TABLE2)) {
            assertThat(preset.rows())
                    .allSatisfy(row -> assertThat(PaperData.FMD.figure(row)).isPresent());
        }
        TableRow full = TablePreset.TABLE2.rows().getLast();
        assertThat(List.of(PaperData.values()))
                .extracting(data -> data.figure(full).orElse(""))
                .containsExactly("68.9", "79.2", "81.1", "72.4", "77.8");
        TableRow encoding = TablePreset.TABLE1.rows().get(3);
        assertThat(PaperData.FMD.figure(encoding)).hasValue("80.2 (ResNet-50)");
        assertThat(PaperData.CUB.figure(encoding)).isEmpty();
        assertThat(PaperData.FMD.figure(new TableRow("mine", "average", Settings.NONE)))
                .isEmpty();
    }

    @Test
    void recognizesCompleteDatasetsOfPaper() {
        assertThat(recognized(classes(47), 5640, "dtd:lists")).hasValue(PaperData.DTD);
        assertThat(recognized(classes(10), 1200, "dtd")).isEmpty();
        assertThat(recognized(MATERIALS, 1000, "csv")).hasValue(PaperData.FMD);
        assertThat(recognized(MATERIALS, 999, "fmd")).isEmpty();
        assertThat(recognized(classes(10), 1000, "folders")).isEmpty();
        assertThat(recognized(classes(100), 10000, "fgvc-aircraft:variant")).hasValue(PaperData.AIRCRAFT);
    }
}
