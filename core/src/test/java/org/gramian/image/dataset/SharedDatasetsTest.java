package org.gramian.image.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.Test;

/** The real datasets beside the project. */
final class SharedDatasetsTest {
    @Test
    void fmdHasThreeGivenFolds() throws IOException {
        Path root = SharedFolder.require("data/fmd");
        Path csv = SharedFolder.require("data/fmd-thirds.csv");
        Dataset dataset = Layouts.parse("csv:" + root).read(csv);
        assertThat(dataset.counts()).hasSize(10).containsOnly(100);
        assertThat(dataset.notes()).isEmpty();
        assertThat(dataset.samples()).isEqualTo(Layouts.open(root).samples());
        FoldSet plan = Protocol.defaultFor(dataset).plan(dataset, Duplicates.of(dataset), 1);
        assertThat(plan.folds().stream().map(fold -> fold.test().size()).toList())
                .hasSize(3)
                .allSatisfy(size -> assertThat(size).isBetween(330, 340));
    }

    @Test
    void tenClassesOfDtdHaveOfficialSplits() throws IOException {
        Path root = SharedFolder.require("data/dtd10");
        Dataset dataset =
                Layouts.parse("dtd:" + SharedFolder.require("data/dtd-splits")).read(root);
        assertThat(dataset.counts()).hasSize(10).containsOnly(120);
        assertThat(dataset.notes()).hasSize(1);
        Note absent = dataset.notes().getFirst();
        assertThat(absent.kind()).isEqualTo(Note.Kind.ABSENT_CLASSES);
        assertThat(absent.count()).isEqualTo(37);
        assertThat(absent.examples()).hasSize(37).contains("zigzagged").doesNotContain("banded");
        FoldSet plan = Protocol.defaultFor(dataset).plan(dataset, Duplicates.of(dataset), 1);
        assertThat(plan.protocol().text()).isEqualTo("dtd-official:1..10");
        assertThat(plan.folds())
                .hasSize(10)
                .allSatisfy(fold -> assertThat(List.of(
                                fold.train().size(),
                                fold.validation().size(),
                                fold.test().size()))
                        .containsOnly(400));
    }
}
