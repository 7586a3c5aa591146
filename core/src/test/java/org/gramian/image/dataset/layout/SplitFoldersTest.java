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
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SplitFoldersTest {
    @TempDir
    Path root;

    @ParameterizedTest
    @ValueSource(strings = {"val", "valid", "validation", "Val", "dev"})
    void readsTrainValidationAndTestFolders(String validation) throws IOException {
        DatasetTrees.splits(root, List.of("train", validation, "test"), "b", "a");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.source().layout()).isEqualTo("splits");
        assertThat(dataset.classes()).containsExactly("a", "b");
        assertThat(dataset.samples())
                .hasSize(12)
                .allSatisfy(sample -> assertThat(sample.name()).contains("/" + dataset.className(sample) + "/"));
        List<SplitPart> parts =
                ((Assignment.Splits) dataset.assignment()).splits().getFirst().parts();
        for (int i = 0; i < parts.size(); i++) {
            String name = dataset.samples().get(i).name();
            boolean validates = parts.get(i) == SplitPart.VALIDATION;
            assertThat(name).startsWith(validates ? validation : parts.get(i).word());
        }
        assertThat(parts).containsOnly(SplitPart.TRAIN, SplitPart.VALIDATION, SplitPart.TEST);
        assertThat(dataset.notes()).isEmpty();
    }

    @Test
    void rejectsMisspeltSplitFolder() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val", "tets"), "a", "b");
        assertRejected(DatasetException.class, () -> Layouts.open(root), root.resolve("tets"), "'test'");
    }

    @Test
    void classFoldersMayResembleSplits() throws IOException {
        for (String name : List.of("train", "trail", "text", "vale")) {
            file(root, name + "/1.jpg");
            file(root, name + "/2.jpg");
        }
        assertThat(Layouts.open(root).classes()).containsExactly("text", "trail", "train", "vale");
    }

    @Test
    void rejectsClassMissingFromOneSplit() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val", "test"), "a", "b");
        file(root, "val/owl/1.jpg");
        file(root, "test/owl/1.jpg");
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(root))
                .has(facts(root, "owl", "train/"))
                .satisfies(e -> assertThat(e.dataset().orElseThrow().classes()).containsExactly("a", "b", "owl"));
    }

    @Test
    void validationSetMayLackClasses() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val", "test"), "a", "b");
        file(root, "train/owl/1.jpg");
        file(root, "test/owl/1.jpg");
        Dataset dataset = Layouts.open(root);
        assertThat(dataset.classes()).containsExactly("a", "b", "owl");
        FoldSet folds = Protocol.defaultFor(dataset).plan(dataset, Duplicates.of(dataset), 0);
        assertThat(note(folds.notes(), Kind.UNVALIDATED_CLASSES)).has(facts("owl"));
    }

    @Test
    void emptyValidationFolderIsNoted() throws IOException {
        DatasetTrees.splits(root, List.of("train", "test"), "a", "b");
        Files.createDirectories(root.resolve("valid/a"));
        Dataset dataset = Layouts.open(root);
        assertThat(note(dataset.notes(), Kind.EMPTY_VALIDATION)).has(facts("valid"));
        Split split = ((Assignment.Splits) dataset.assignment()).splits().getFirst();
        assertThat(split.parts()).containsOnly(SplitPart.TRAIN, SplitPart.TEST);
    }

    @Test
    void validationSetBecomesMissingTestSet() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val"), "a", "b");
        DatasetTrees.folders(root, 1, "extra");
        Dataset dataset = Layouts.open(root);
        Split split = ((Assignment.Splits) dataset.assignment()).splits().getFirst();
        assertThat(split.parts()).containsOnly(SplitPart.TRAIN, SplitPart.TEST);
        assertThat(note(dataset.notes(), Kind.VALIDATION_TESTS)).has(facts("val"));
        assertThat(note(dataset.notes(), Kind.UNUSED_IMAGES)).endsWith(": extra");
    }

    @Test
    void rejectsTwoFoldersForOnePart() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val", "valid", "test"), "a", "b");
        assertRejected(DatasetException.class, () -> Layouts.open(root), "val", "valid");
    }
}
