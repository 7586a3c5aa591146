package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.gramian.backbone.Backbone;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.pooling.Methods;
import org.junit.jupiter.api.Test;

class TablePresetTest {
    private static final List<String> MATERIALS =
            List.of("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone", "water", "wood");

    private static Dataset dataset(List<String> classes, int images, String layout) {
        List<Sample> samples = IntStream.range(0, images)
                .mapToObj(i -> new Sample("p" + i, i % classes.size(), Path.of("p" + i)))
                .toList();
        return new Dataset(
                Path.of("x"), classes, samples, new Dataset.Source(layout, new Assignment.None(), List.of()));
    }

    private static List<String> classes(int count) {
        return IntStream.range(0, count).mapToObj(i -> "c" + i).toList();
    }

    @Test
    void presetsHaveRowsOfPaper() {
        assertThat(TablePreset.parse("table1").rows())
                .extracting(TableRow::name)
                .containsExactly("fv-cnn", "fv-fc-cnn", "bcnn", "deep-ten", "tail", "paper");
        assertThat(TablePreset.parse("table2").rows())
                .extracting(TableRow::name)
                .containsExactly(
                        "tail",
                        "paper-bcnn",
                        "paper-tail",
                        "paper-kernel-no-conv",
                        "paper-kernel-128",
                        "paper-kernel",
                        "paper");
        assertThat(List.of(TablePreset.values()))
                .flatExtracting(TablePreset::rows)
                .as("one title for a method, wherever it stands")
                .allSatisfy(row -> assertThat(row.title())
                        .isEqualTo(Methods.find(row.name()).orElseThrow().title()));
        assertThat(TablePreset.FAMILY.rows())
                .extracting(TableRow::name)
                .contains("average", "bcnn", "isqrt", "default")
                .doesNotContain("paper-kernel")
                .doesNotContain("cross-layer") // no layer of one row in common with the others
                .startsWith("average")
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
        assertThat(PaperData.FMD.figure(new TableRow("mine", "mine", "average", Map.of())))
                .isEmpty();
    }

    @Test
    void tailIsNamedAfterBackbone() {
        Backbone vgg = Backbone.of("vgg16");
        Backbone googlenet = Backbone.of("googlenet", "inception_4e");
        TableRow tail = TablePreset.TABLE2.rows().get(0);
        assertThat(TablePreset.title(tail, vgg)).isEqualTo("VGG-16");
        assertThat(TablePreset.title(tail, googlenet)).has(facts("googlenet"));
        TableRow after = TablePreset.TABLE2.rows().get(2);
        assertThat(TablePreset.title(after, vgg)).has(facts("512", "VGG-16"));
        assertThat(TablePreset.title(after, googlenet))
                .as("as many channels as the layer has")
                .has(facts("832", "googlenet"));
        assertThat(TablePreset.title(new TableRow("tail", "tail", "average", Map.of()), googlenet))
                .as("custom label")
                .isEqualTo("tail");
        TableRow other = new TableRow("mine", "like VGG-16", "average", Map.of());
        assertThat(TablePreset.title(other, googlenet)).isEqualTo("like VGG-16");
    }

    @Test
    void recognizesCompleteDatasetsOfPaper() {
        assertThat(PaperData.of(dataset(classes(47), 5640, "dtd:lists"))).hasValue(PaperData.DTD);
        assertThat(PaperData.of(dataset(classes(10), 1200, "dtd")))
                .as("10 of its 47 classes")
                .isEmpty();
        assertThat(PaperData.of(dataset(MATERIALS, 1000, "csv")))
                .as("whatever lists it")
                .hasValue(PaperData.FMD);
        assertThat(PaperData.of(dataset(MATERIALS, 999, "fmd"))).isEmpty();
        assertThat(PaperData.of(dataset(classes(10), 1000, "folders"))).isEmpty();
        assertThat(PaperData.of(dataset(classes(100), 10000, "fgvc-aircraft:variant")))
                .hasValue(PaperData.AIRCRAFT);
    }
}
