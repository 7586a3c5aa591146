package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.image.dataset.DatasetTrees.file;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
final class FoldersTest {
    @TempDir
    Path root;

    @Test
    void sortsClassesAndSamples() throws IOException {
        DatasetTrees.folders(root, 3, "wood", "glass", "paper");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.classes()).containsExactly("glass", "paper", "wood");
        assertThat(dataset.samples()).hasSize(9).isSortedAccordingTo(Comparator.comparing(Sample::name));
        assertThat(dataset.samples().getLast())
                .isEqualTo(new Sample("wood/wood_0003.jpg", 2, root.resolve("wood/wood_0003.jpg")));
        assertThat(dataset.counts()).containsExactly(3, 3, 3);
        assertThat(dataset.assignment()).isEqualTo(new Assignment.None());
        assertThat(dataset.notes()).isEmpty();
    }

    @Test
    void notesFilesThatAreNotImages() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        for (String other :
                new String[] {"a/Thumbs.db", "b/.DS_Store", "readme.txt", "b/._b_0001.jpg", "a/jpg", "a/.jpg"}) {
            file(root, other);
        }
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.samples()).hasSize(2);
        assertThat(dataset.notes().getFirst().examples()).hasSize(6).isSorted();
        assertThat(note(dataset.notes(), Kind.NOT_IMAGES))
                .has(facts("6", "a/.jpg", "a/Thumbs.db", "a/jpg", "b/.DS_Store", "b/._b_0001.jpg"))
                .doesNotContain("readme.txt");
    }

    @Test
    void notesImagesOutsideClassFolders() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        file(root, "loose.jpg");
        file(root, "a/deeper/one.jpg");
        file(root, "a/deeper/still/two.jpg");
        file(root, ".git/x.jpg");
        Files.createDirectory(root.resolve("nothing yet"));
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.samples()).hasSize(2);
        assertThat(note(dataset.notes(), Kind.OUTSIDE_LAYOUT)).has(facts("1", "loose.jpg"));
        assertThat(note(dataset.notes(), Kind.NESTED)).has(facts("2", "a/deeper/one.jpg", "a/deeper/still/two.jpg"));
        assertThat(note(dataset.notes(), Kind.HIDDEN_FOLDERS)).has(facts("1", ".git"));
        assertThat(note(dataset.notes(), Kind.EMPTY_CLASSES)).has(facts("nothing yet"));
    }

    @Test
    void followsLinksButNotInCircles() throws IOException {
        DatasetTrees.folders(root, 2, "a", "b");
        Files.createSymbolicLink(root.resolve("a/up"), root);
        Files.createSymbolicLink(root.resolve("circle"), root);
        Files.createSymbolicLink(root.resolve("b/self.jpg"), root.resolve("b/self.jpg"));
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.classes()).containsExactly("a", "b");
        assertThat(dataset.samples())
                .extracting(Sample::name)
                .contains("b/self.jpg")
                .hasSize(5);
        assertThat(note(dataset.notes(), Kind.EMPTY_CLASSES)).endsWith(": circle");
    }

    @Test
    void rejectsFoldersWithoutTwoClasses() throws IOException {
        assertRefused(facts("no images", "class"));
        file(root, "1.jpg");
        file(root, "2.jpg");
        assertRefused(facts("2 images", "class", "CSV"));
        Files.createDirectory(root.resolve("a"));
        assertRefused(facts("class"));
        file(root, "a/x/1.jpg");
        assertRefused(facts("1", "a/x/1.jpg"));
        file(root, "a/1.jpg");
        assertRefused(facts("CLASS/IMAGE.jpg", "a"));
    }

    private void assertRefused(Facts message) {
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .withMessageStartingWith(root + ": ")
                .has(message);
    }

    @Test
    void recognizesImagesByFirstBytes() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        byte[] png = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0};
        for (String name : List.of("a/img_0001", "a/x.jpg_large", "b/.hidden")) {
            Files.write(root.resolve(name), png);
        }
        file(root, "b/notes");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.samples())
                .extracting(Sample::name)
                .containsExactly("a/a_0001.jpg", "a/img_0001", "a/x.jpg_large", "b/b_0001.jpg");
        assertThat(note(dataset.notes(), Kind.NOT_IMAGES)).endsWith(": b/.hidden, b/notes");
    }

    @Test
    void flatReadsImagesWithoutClasses() throws IOException {
        file(root, "b.jpg");
        file(root, "deep/er/a.jpg");
        file(root, ".git/x.jpg");
        Files.createSymbolicLink(root.resolve("deep/up"), root);
        Dataset flat = Layouts.parse("flat").read(root);
        assertThat(flat.classes()).containsExactly("unlabelled");
        assertThat(flat.samples()).extracting(Sample::name).containsExactly("b.jpg", "deep/er/a.jpg");
        assertRejected(() -> Protocol.parse("half").plan(flat, Duplicates.NONE, 1), "2", "unlabelled");
    }

    @Test
    void messagesHaveNoControlCharacters() throws IOException {
        file(root, "\u001b[31mred/a.jpg");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .withMessageContaining("\uFFFD[31mred")
                .withMessageNotContaining("\u001b");
    }
}
