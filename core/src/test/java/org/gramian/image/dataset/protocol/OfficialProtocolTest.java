package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OfficialProtocolTest {
    @TempDir
    Path root;

    private static FoldSet defaultPlan(Dataset dataset) {
        return Protocol.defaultFor(dataset).plan(dataset, Duplicates.of(dataset), 1);
    }

    private static List<String> names(Dataset dataset, List<Integer> part) {
        return part.stream().map(index -> dataset.samples().get(index).name()).toList();
    }

    @Test
    void dtdHasTenFoldsWithValidationSets() throws IOException {
        DatasetTrees.dtd(root, 6, "banded", "woven");
        Dataset dataset = Layouts.open(root);
        FoldSet plan = defaultPlan(dataset);
        assertThat(plan.protocol().text()).isEqualTo("dtd-official:1..10");
        assertThat(plan.folds()).hasSize(10).allSatisfy(fold -> {
            assertThat(fold.train()).hasSize(4);
            assertThat(fold.validation()).hasSize(4);
            assertThat(fold.test()).hasSize(4);
        });
        assertThat(Protocol.parse("dtd-official:9..10")
                        .plan(dataset, Duplicates.NONE, 1)
                        .folds())
                .isEqualTo(plan.folds().subList(8, 10));
        assertThat(Protocol.parse("given").plan(dataset, Duplicates.NONE, 1).fingerprint())
                .isEqualTo(plan.fingerprint());
    }

    @Test
    void dtdWithSomeListsHasSomeFolds(@TempDir Path lists) throws IOException {
        DatasetTrees.folders(root, 6, "banded", "woven");
        DatasetTrees.dtdLists(lists, 6, "banded", "woven");
        for (int split = 4; split <= 10; split++) {
            for (String part : List.of("train", "val", "test")) {
                Files.delete(lists.resolve(part + split + ".txt"));
            }
        }
        Dataset dataset = Layouts.parse("dtd:" + lists).read(root);
        assertThat(Protocol.defaultFor(dataset).text()).isEqualTo("dtd-official:1..3");
        assertMisfit(
                "dtd-official:2..5",
                dataset,
                facts("4", "1", "2", "3", "dtd-official:1..3", "given", "holdout:0.2", "kfold:5"));
    }

    @Test
    void rejectsClassWithoutTrainingImages() throws IOException {
        DatasetTrees.dtd(root, 3, "banded", "woven");
        String listed = Files.readAllLines(root.resolve("labels/train2.txt")).getFirst();
        Files.delete(root.resolve("images").resolve(listed));
        assertMisfit("dtd-official:2", Layouts.open(root), facts("'split 2'", "banded"));
    }

    @Test
    void notesClassWithoutTestImages() throws IOException {
        DatasetTrees.dtd(root, 3, "banded", "woven");
        Files.delete(root.resolve("images")
                .resolve(Files.readAllLines(root.resolve("labels/test2.txt")).getFirst()));
        Dataset dataset = Layouts.open(root);
        assertThat(note(
                        Protocol.parse("dtd-official:2")
                                .plan(dataset, Duplicates.NONE, 1)
                                .notes(),
                        Kind.UNTESTED_CLASSES))
                .has(facts("1", "banded (split 2)"));
    }

    @Test
    void kthTrainsOnOneOrThreeSamples() throws IOException {
        DatasetTrees.kth(root, 2, "cork", "wool");
        Dataset dataset = Layouts.open(root);
        FoldSet plan = defaultPlan(dataset);
        assertThat(plan.protocol().text()).isEqualTo("kth-1v3");
        assertThat(plan.folds()).extracting(Fold::name).containsExactly("sample a", "sample b", "sample c", "sample d");
        assertThat(plan.folds()).allSatisfy(fold -> {
            String letter = fold.name().substring("sample ".length());
            assertThat(names(dataset, fold.train()))
                    .hasSize(4)
                    .allMatch(name -> name.contains("/sample_" + letter + "/"));
            assertThat(names(dataset, fold.test()))
                    .hasSize(12)
                    .noneMatch(name -> name.contains("/sample_" + letter + "/"));
        });
        List<Fold> swapped =
                Protocol.parse("kth-3v1").plan(dataset, Duplicates.NONE, 1).folds();
        for (int i = 0; i < 4; i++) {
            assertThat(swapped.get(i).test()).isEqualTo(plan.folds().get(i).train());
            assertThat(swapped.get(i).train()).isEqualTo(plan.folds().get(i).test());
        }
        assertMisfit("given", dataset, facts("kth-1v3"));
    }

    @Test
    void kthNeedsEverySampleOfEveryClass() throws IOException {
        DatasetTrees.kth(root, 1, "cork", "wool");
        Files.delete(root.resolve("wool/sample_c/22c-scale_2_im_1_col.png"));
        assertMisfit("kth-1v3", Layouts.open(root), facts("[a, b, c, d]", "[a, b, d]", "'wool'"));
        Files.delete(root.resolve("cork/sample_c/22c-scale_2_im_1_col.png"));
        assertMisfit("kth-3v1", Layouts.open(root), facts("4", "[a, b, d]"));
    }

    @Test
    void cubAndAircraftHaveOneOfficialFold(@TempDir Path planes) throws IOException {
        DatasetTrees.cub(root, 3, "A", "B");
        Dataset birds = Layouts.open(root);
        FoldSet plan = defaultPlan(birds);
        assertThat(plan.protocol().text()).isEqualTo("cub-official");
        assertThat(plan.folds()).containsExactly(new Fold("official", List.of(1, 2, 4, 5), List.of(), List.of(0, 3)));

        DatasetTrees.aircraft(planes);
        Dataset aircraft = Layouts.parse("fgvc-aircraft:manufacturer").read(planes);
        Fold apart = defaultPlan(aircraft).folds().getFirst();
        assertThat(List.of(
                        apart.train().size(),
                        apart.validation().size(),
                        apart.test().size()))
                .containsExactly(4, 4, 4);
        Fold together = Protocol.parse("aircraft-official:trainval")
                .plan(aircraft, Duplicates.NONE, 1)
                .folds()
                .getFirst();
        assertThat(together).isEqualTo(apart.withValidationInTraining());
        assertThat(together.train()).hasSize(8);
        assertMisfit("cub-official", aircraft, facts("cub-200-2011", "fgvc-aircraft", "aircraft-official", "given"));
    }

    @Test
    void givenReadsFoldersAndFoldColumns() throws IOException {
        DatasetTrees.splits(root, List.of("train", "val", "test"), "a", "b");
        Dataset folders = Layouts.open(root);
        FoldSet plan = defaultPlan(folders);
        assertThat(plan.protocol().text()).isEqualTo("given");
        assertThat(names(folders, plan.folds().getFirst().validation()))
                .hasSize(4)
                .allMatch(name -> name.startsWith("val/"));

        DatasetTrees.file(root, "list.csv", """
            path,label,fold
            train/a/a_0001.jpg,a,0
            train/a/a_0002.jpg,a,5
            train/b/b_0001.jpg,b,5
            train/b/b_0002.jpg,b,0
            """);
        assertThat(defaultPlan(Layouts.open(root.resolve("list.csv"))).folds())
                .containsExactly(
                        new Fold("fold 0", List.of(1, 2), List.of(), List.of(0, 3)),
                        new Fold("fold 5", List.of(0, 3), List.of(), List.of(1, 2)));
    }

    @Test
    void rejectsOfficialProtocolsForOtherDatasets() throws IOException {
        DatasetTrees.folders(root, 6, "a", "b");
        Dataset folders = Layouts.open(root);
        assertMisfit("given", folders, facts("folds"));
        for (String text : List.of("kth-1v3", "dtd-official", "cub-official", "aircraft-official")) {
            assertMisfit(text, folders, facts("folders", "holdout:0.2", "kfold:5"));
        }
        DatasetTrees.file(root, "list.csv", "path,label,fold\na/a_0001.jpg,a,0\nb/b_0001.jpg,b,0\n");
        assertMisfit("given", Layouts.open(root.resolve("list.csv")), facts("fold"));
    }

    @Test
    void notesDuplicatesAcrossGivenSplit() throws IOException {
        DatasetTrees.splits(root, List.of("train", "test"), "a", "b");
        Dataset without = Layouts.open(root);
        assertThat(defaultPlan(without).notes()).isEmpty();
        for (String path :
                List.of("train/a/a_0001.jpg", "test/a/a_0002.jpg", "test/b/b_0001.jpg", "test/b/b_0002.jpg")) {
            DatasetTrees.file(root, path, path.contains("/a/") ? "one content" : "another");
        }
        FoldSet plan = defaultPlan(Layouts.open(root));
        assertThat(plan.folds()).isEqualTo(defaultPlan(without).folds());
        assertThat(plan.notes()).hasSize(1);
        assertThat(note(plan.notes(), Kind.STRADDLING_COPIES))
                .has(facts("1", "test/a/a_0002.jpg = train/a/a_0001.jpg"));
    }

    private static void assertMisfit(String text, Dataset dataset, Facts message) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Protocol.parse(text).plan(dataset, Duplicates.NONE, 1))
                .has(facts(text))
                .has(message);
    }
}
