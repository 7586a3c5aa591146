package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.image.dataset.DatasetTrees.file;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DtdTest {
    @TempDir
    Path root;

    @Test
    void readsTenSplitsInNumericOrder() throws IOException {
        DatasetTrees.dtd(root, 6, "banded", "woven");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.source().layout()).isEqualTo("dtd");
        assertThat(dataset.counts()).containsExactly(6, 6);
        assertThat(splits(dataset))
                .extracting(Split::name)
                .containsExactly("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
        for (Split split : splits(dataset)) {
            for (SplitPart part : List.of(SplitPart.TRAIN, SplitPart.VALIDATION, SplitPart.TEST)) {
                List<String> listed = Files.readAllLines(root.resolve("labels/" + part.word() + split.name() + ".txt"));
                assertThat(named(dataset, split, part)).hasSize(4).containsExactlyInAnyOrderElementsOf(listed);
            }
        }
        assertThat(dataset.notes()).isEmpty();
    }

    private static List<String> named(Dataset dataset, Split split, SplitPart part) {
        return dataset.samples().stream()
                .filter(sample -> split.parts().get(dataset.samples().indexOf(sample)) == part)
                .map(sample -> sample.name().substring("images/".length()))
                .toList();
    }

    @Test
    void readsListsOfAnotherFolder(@TempDir Path lists) throws IOException {
        DatasetTrees.folders(root, 6, "banded", "woven");
        Files.delete(root.resolve("woven/woven_0002.jpg"));
        file(root, "banded/my own.jpg");
        DatasetTrees.dtdLists(lists, 6, "banded", "blotchy", "woven", "zigzagged");
        DatasetLayout layout = new PublishedLayout.Dtd(Optional.of(lists));
        Dataset dataset = layout.read(root);
        assertThat(dataset.counts()).containsExactly(7, 5);
        assertThat(note(dataset.notes(), Kind.ABSENT_CLASSES)).has(facts("2", "blotchy", "zigzagged"));
        assertThat(note(dataset.notes(), Kind.ABSENT_IMAGES)).has(facts("1", "woven/woven_0002.jpg"));
        assertThat(note(dataset.notes(), Kind.UNLISTED_IMAGES)).has(facts("banded/my own.jpg"));
        assertThat(splits(dataset).getFirst().parts()).contains(SplitPart.UNUSED);
        assertThat(Layouts.parse(layout.text())).isEqualTo(layout);
    }

    @Test
    void acceptsAnyLineEndsAndByteOrderMark() throws IOException {
        DatasetTrees.dtd(root, 3, "banded", "woven");
        Dataset plain = Layouts.open(root);
        Path list = root.resolve("labels/train1.txt");
        Files.writeString(list, "\uFEFF" + Files.readString(list).replace("\n", " \r\n\r\n"));
        assertThat(Layouts.open(root)).isEqualTo(plain);
    }

    @Test
    void rejectsImagesInTwoLists() throws IOException {
        DatasetTrees.dtd(root, 3, "banded", "woven");
        Path train = root.resolve("labels/train1.txt");
        String line = Files.readAllLines(train).getFirst();
        Files.writeString(train, Files.readString(train) + line + "\n");
        assertThat(note(Layouts.open(root).notes(), Kind.REPEATED_ROWS)).has(facts(line, "train1.txt"));
        Files.writeString(root.resolve("labels/test1.txt"), "\n" + line + "\n");
        assertRefused(facts("test1.txt", "2", line, "train"));
    }

    @Test
    void rejectsMissingAndInvalidLists() throws IOException {
        DatasetTrees.dtd(root, 3, "banded", "woven");
        Files.delete(root.resolve("labels/val4.txt"));
        assertRefused(facts("val4.txt"));
        file(root, "labels/val4.txt", "banded\n");
        assertRefused(facts("val4.txt", "1", "banded"));
        Files.write(root.resolve("labels/val4.txt"), "gr\u00fcn/a.jpg".getBytes(StandardCharsets.ISO_8859_1));
        assertRefused(facts("val4.txt", "UTF-8"));
        Path other = Files.createDirectory(root.resolve("other"));
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> new PublishedLayout.Dtd(Optional.of(other)).read(root))
                .has(facts(other, "train1.txt", "val1.txt", "test1.txt"));
    }

    private void assertRefused(Facts message) {
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .has(message);
    }

    private static List<Split> splits(Dataset dataset) {
        return ((Assignment.Splits) dataset.assignment()).splits();
    }
}
