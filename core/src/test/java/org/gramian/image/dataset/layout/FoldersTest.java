package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.image.dataset.DatasetTrees.file;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
final class FoldersTest {
    @TempDir
    Path root;

    @Test
    void classesAndSamplesAreSortedWhateverTheOrderOnDisk() throws IOException {
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
    void extensionsCountInAnyCaseAndNamesMayHoldSpacesAndUnicode() throws IOException {
        file(root, "Holz & Rinde/Bild 1.JPG");
        file(root, "石/写真.Png");
        file(root, "石/b.tar.webp");
        assertThat(Layouts.open(root).samples())
                .extracting(Sample::name)
                .containsExactly("Holz & Rinde/Bild 1.JPG", "石/b.tar.webp", "石/写真.Png");
    }

    @Test
    void filesThatAreNoImagesAreCountedAndShown() throws IOException {
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
    void imagesOutsideOrBelowAClassFolderAreCounted() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        file(root, "loose.jpg");
        file(root, "a/deeper/one.jpg");
        file(root, "a/deeper/still/two.jpg");
        file(root, ".git/x.jpg");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.samples()).hasSize(2);
        assertThat(note(dataset.notes(), Kind.OUTSIDE_LAYOUT)).has(facts("1", "loose.jpg"));
        assertThat(note(dataset.notes(), Kind.NESTED)).has(facts("2", "a/deeper/one.jpg", "a/deeper/still/two.jpg"));
        assertThat(note(dataset.notes(), Kind.HIDDEN_FOLDERS)).has(facts("1", ".git"));
    }

    @Test
    void anEmptyClassFolderIsNotAClassAndIsNamed() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        Files.createDirectory(root.resolve("nothing yet"));
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.classes()).containsExactly("a", "b");
        assertThat(note(dataset.notes(), Kind.EMPTY_CLASSES)).has(facts("nothing yet"));
    }

    @Test
    void linksThatLeadInCirclesDoNotHang() throws IOException {
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
    void aLinkedClassFolderIsAClass(@TempDir Path elsewhere) throws IOException {
        DatasetTrees.folders(root, 1, "a");
        DatasetTrees.folders(elsewhere, 2, "b");
        Files.createSymbolicLink(root.resolve("b"), elsewhere.resolve("b"));
        assertThat(Layouts.open(root).counts()).containsExactly(1, 2);
    }

    @Test
    void tenThousandImagesAreListedInSeconds() throws IOException {
        for (int category = 0; category < 20; category++) {
            Path folder = Files.createDirectory(root.resolve("class" + category));
            for (int i = 0; i < 500; i++) {
                Files.createFile(folder.resolve(i + ".jpg"));
            }
        }
        long start = System.nanoTime();
        assertThat(Layouts.open(root).samples()).hasSize(10_000);
        assertThat(System.nanoTime() - start).isLessThan(10_000_000_000L);
    }

    @Test
    void whatCannotBeLearnedIsRefusedWithWhatIsExpected() throws IOException {
        assertRefused(facts("CLASS/IMAGE.jpg"));
        file(root, "1.jpg");
        file(root, "2.jpg");
        assertRefused(facts("2", "class", "CSV"));
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
    void imagesWithoutTheirExtensionAreToldByTheirFirstBytes() throws IOException {
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
    void imagesOfFormatsThatAreNotReadAreImagesAndTheDecoderSaysWhy() throws IOException {
        DatasetTrees.folders(root, 1, "a", "b");
        file(root, "a/z.HEIC");
        Sample heic = Layouts.open(root).samples().get(1);
        assertThat(heic.name()).isEqualTo("a/z.HEIC");
        assertThat(new ImageReader(ImageLimits.DEFAULT).read(heic.file()))
                .isInstanceOfSatisfying(
                        ReadResult.Unreadable.class,
                        found -> assertThat(found.problem()).isEqualTo(ReadResult.Problem.UNKNOWN_FORMAT));
    }

    @Test
    void imagesWithoutClassesAreReadAsFlatAndNotDivided() throws IOException {
        file(root, "b.jpg");
        file(root, "deep/er/a.jpg");
        file(root, ".git/x.jpg");
        Files.createSymbolicLink(root.resolve("deep/up"), root);
        Dataset flat = Layouts.parse("flat").read(root);
        assertThat(flat.classes()).containsExactly("unlabelled");
        assertThat(flat.samples()).extracting(Sample::name).containsExactly("b.jpg", "deep/er/a.jpg");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Protocols.parse("half").plan(flat, Duplicates.NONE, 1))
                .has(facts("2", "unlabelled"));
    }

    @Test
    void aFolderOfLooseImagesIsPointedToFlat() throws IOException {
        file(root, "b.jpg");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .has(facts("--layout"));
    }

    @Test
    void namesInMessagesCannotCommandATerminal() throws IOException {
        file(root, "\u001b[31mred/a.jpg");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .withMessageContaining("\uFFFD[31mred")
                .withMessageNotContaining("\u001b");
    }
}
