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
import java.util.List;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample.Box;
import org.gramian.image.dataset.layout.DatasetLayout.Folders;
import org.gramian.image.dataset.layout.PublishedLayout.Fmd;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublishedLayoutsTest {
    @TempDir
    Path root;

    @Test
    void fmdReadsImagesAndSkipsMasks() throws IOException {
        DatasetTrees.fmd(root, 4, "fabric", "wood");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.source().layout()).isEqualTo("fmd");
        assertThat(dataset.counts()).containsExactly(4, 4);
        assertThat(dataset.samples().getFirst().name()).isEqualTo("image/fabric/fabric_0001.jpg");
        assertThat(note(dataset.notes(), Kind.MASKS)).has(facts("1", "mask"));
        assertThat(note(dataset.notes(), Kind.NOT_IMAGES)).has(facts("image/Thumbs.db"));
    }

    @Test
    void fmdIsDetectedByMasksOrClasses() throws IOException {
        DatasetTrees.folders(root.resolve("image"), 2, "wood", "stone");
        assertThat(Layouts.detect(root)).isEqualTo(new Fmd());
        DatasetTrees.folders(root.resolve("image"), 2, "elephant");
        assertThat(Layouts.detect(root)).isEqualTo(new Folders());
        file(root, "mask/readme.txt");
        assertThat(Layouts.detect(root)).isEqualTo(new Fmd());
        file(root, "more/deeper/x.jpg");
        assertThat(Layouts.detect(root)).isEqualTo(new Folders());
        assertThat(note(new Fmd().read(root).notes(), Kind.UNUSED_IMAGES)).endsWith(": more");
    }

    @Test
    void kthKeepsPhysicalSamples() throws IOException {
        DatasetTrees.kth(root, 2, "cork", "wool");
        file(root, "cork/loose.png");
        file(root, "cork/other/x.png");
        file(root, "empty class/readme.txt");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.source().layout()).isEqualTo("kth-tips-2b");
        assertThat(dataset.counts()).containsExactly(8, 8);
        List<String> letters = ((Assignment.Groups) dataset.assignment()).letters();
        for (int i = 0; i < letters.size(); i++) {
            assertThat(dataset.samples().get(i).name()).contains("/sample_" + letters.get(i) + "/");
        }
        assertThat(dataset.notes().stream().map(note -> note.kind() + " " + note.examples()))
                .containsExactly(
                        "NOT_IMAGES [empty class/readme.txt]",
                        "OUTSIDE_LAYOUT [cork/loose.png]",
                        "EMPTY_CLASSES [empty class]",
                        "UNUSED_IMAGES [cork/other]");
    }

    @Test
    void cubReadsLabelsSplitAndBoxes() throws IOException {
        DatasetTrees.cub(root, 3, "Black_footed_Albatross", "Laysan_Albatross");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.source().layout()).isEqualTo("cub-200-2011");
        assertThat(dataset.classes()).containsExactly("001.Black_footed_Albatross", "002.Laysan_Albatross");
        assertThat(dataset.samples().getFirst().name())
                .isEqualTo("images/001.Black_footed_Albatross/Black_footed_Albatross_0001_1.jpg");
        assertThat(dataset.samples().getFirst().box()).contains(new Box(60, 27, 325, 301));
        assertThat(split(dataset).parts())
                .containsExactly(
                        SplitPart.TEST,
                        SplitPart.TRAIN,
                        SplitPart.TRAIN,
                        SplitPart.TEST,
                        SplitPart.TRAIN,
                        SplitPart.TRAIN);
        assertThat(dataset.notes()).isEmpty();
    }

    @Test
    void cubNotesMissingAndUnlistedImages() throws IOException {
        DatasetTrees.cub(root, 3, "A", "B", "C");
        Files.delete(root.resolve("bounding_boxes.txt"));
        Files.delete(root.resolve("images/001.A/A_0002_2.jpg"));
        for (int i = 1; i <= 3; i++) {
            Files.delete(root.resolve("images/003.C/C_000" + i + "_" + (6 + i) + ".jpg"));
        }
        file(root, "images/001.A/new.jpg");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.counts()).containsExactly(2, 3);
        assertThat(dataset.samples())
                .allSatisfy(sample -> assertThat(sample.box()).isEmpty());
        assertThat(note(dataset.notes(), Kind.ABSENT_IMAGES)).has(facts("1", "001.A/A_0002_2.jpg"));
        assertThat(note(dataset.notes(), Kind.ABSENT_CLASSES)).endsWith(": 003.C");
        assertThat(note(dataset.notes(), Kind.UNLABELLED_IMAGES)).endsWith(": 001.A/new.jpg");
    }

    @Test
    void rejectsInvalidListsOfCub() throws IOException {
        DatasetTrees.cub(root, 2, "A", "B");
        assertRefused("images.txt", "1 001.A/x.jpg\n1 001.A/y.jpg\n", facts("2", "1"));
        assertRefused("images.txt", "1 001.A/x.jpg\n2 001.A/x.jpg\n", facts("2"));
        assertRefused("images.txt", "lonely\n", facts("1", "NUMBER TEXT", "lonely"));
        assertRefused("image_class_labels.txt", "1 1\n", facts("2"));
        assertRefused("classes.txt", "2 002.B\n", facts("1"));
        assertRefused("train_test_split.txt", "1 yes\n", facts("1", "1", "0"));
        assertRefused("bounding_boxes.txt", "\n1 2 3 4 -5\n", facts("2", "NUMBER X Y WIDTH HEIGHT"));
        assertRefused("bounding_boxes.txt", "1 2 3 4 five\n", facts("1", "NUMBER X Y WIDTH HEIGHT"));
    }

    @Test
    void aircraftHasThreeLevelsOfClasses() throws IOException {
        DatasetTrees.aircraft(root);
        file(root, "data/images/9999.jpg");
        Dataset variants = Layouts.open(root);
        assertThat(variants.source().layout()).isEqualTo("fgvc-aircraft");
        assertThat(variants.classes()).containsExactly("707-320", "737-200", "Cessna 172", "F/A-18");
        assertThat(variants.samples().getFirst().name()).isEqualTo("data/images/0010.jpg");
        assertThat(split(variants).parts().subList(0, 3))
                .containsExactly(SplitPart.TRAIN, SplitPart.VALIDATION, SplitPart.TEST);
        assertThat(note(variants.notes(), Kind.UNLABELLED_IMAGES)).endsWith(": 9999.jpg");
        assertThat(Layouts.parse("fgvc-aircraft:family").read(root).classes())
                .containsExactly("Boeing 707", "Boeing 737", "Cessna 172", "F/A-18");
        Dataset manufacturers = Layouts.parse("fgvc-aircraft:Manufacturer").read(root.resolve("data"));
        assertThat(manufacturers.classes()).containsExactly("Boeing", "Cessna", "McDonnell Douglas");
        assertThat(manufacturers.counts()).containsExactly(6, 3, 3);
    }

    @Test
    void rejectsAircraftInTwoLists() throws IOException {
        DatasetTrees.aircraft(root);
        Files.writeString(root.resolve("data/images_variant_test.txt"), "0010 707-320\r\n");
        assertRejected(DatasetException.class, () -> Layouts.open(root), "images_variant_test.txt", "1", "0010");
        Files.delete(root.resolve("data/images_variant_test.txt"));
        assertRejected(DatasetException.class, () -> Layouts.open(root), "images_variant_test.txt");
    }

    private void assertRefused(String file, String content, Facts message) throws IOException {
        String before = Files.readString(root.resolve(file));
        Files.writeString(root.resolve(file), content);
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .withMessageStartingWith(root.resolve(file) + ": ")
                .has(message);
        Files.writeString(root.resolve(file), before);
    }

    private static Split split(Dataset dataset) {
        return ((Assignment.Splits) dataset.assignment()).splits().getFirst();
    }
}
