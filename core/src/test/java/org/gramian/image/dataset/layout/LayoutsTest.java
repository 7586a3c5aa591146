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

    private Dataset twoClasses() throws IOException {
        DatasetTrees.file(root, "a/=1.jpg", "");
        DatasetTrees.file(root, "a/2.jpg", "");
        DatasetTrees.file(root, "b/3.jpg", "");
        return Layouts.open(root);
    }

    private Path labels(String text) throws IOException {
        return Files.writeString(root.resolve("labels.csv"), text);
    }

    @Test
    void listedLabelsReplaceThoseOfFolders() throws IOException {
        Dataset dataset = twoClasses();
        Dataset corrected = Layouts.relabelled(
                dataset, labels("path;label;suggested\na/=1.jpg;b;a\nb/3.jpg;b;b\n\"a/=1.jpg\";b;b\n"));
        assertThat(corrected.samples().stream().map(corrected::className)).containsExactly("a", "b", "b");
        assertThat(corrected.classes()).isEqualTo(dataset.classes());
        assertThat(corrected.notes())
                .hasSize(1)
                .first()
                .satisfies(note -> assertThat(note.examples()).containsExactly("a/=1.jpg"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        a/4.jpg,a           | 2 a/4.jpg
        ../a/2.jpg,a        | 2 ../a/2.jpg
        a/2.jpg,aa          | 2 'aa' 'a'
        a/2.jpg,            | 2 label
        a/2.jpg,a,b         | 2 fields
        """)
    void rejectsUnknownPathsAndClasses(String row, String facts) throws IOException {
        Dataset dataset = twoClasses();
        Path list = labels("path,label\n" + row + "\n");
        assertRejected(DatasetException.class, () -> Layouts.relabelled(dataset, list), (Object[]) facts.split(" "));
    }

    @Test
    void rejectsContradictingLabels() throws IOException {
        Dataset dataset = twoClasses();
        Path list = labels("path,label\na/2.jpg,a\na/2.jpg,b\n");
        assertRejected(DatasetException.class, () -> Layouts.relabelled(dataset, list), "3", "a/2.jpg");
        assertRejected(DatasetException.class, () -> Layouts.relabelled(dataset, root.resolve("none.csv")), "none.csv");
        Path noLabels = labels("path,class name\na/2.jpg,a\n");
        assertRejected(DatasetException.class, () -> Layouts.relabelled(dataset, noLabels), "label");
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
