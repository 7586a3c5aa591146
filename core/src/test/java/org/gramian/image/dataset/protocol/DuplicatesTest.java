package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.layout.Layouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DuplicatesTest {
    @TempDir
    Path root;

    @Test
    void groupsIdenticalFiles() throws IOException {
        DatasetTrees.file(root, "a/1.jpg", "same");
        DatasetTrees.file(root, "a/2.jpg", "sama");
        DatasetTrees.file(root, "a/3.jpg", "");
        DatasetTrees.file(root, "b/1.jpg", "same");
        DatasetTrees.file(root, "b/2.jpg", "");
        DatasetTrees.file(root, "b/3.jpg", "same as before");
        DatasetTrees.file(root, "b/4.jpg", "same as before");
        DatasetTrees.file(root, "b/5.jpg", "same");
        Duplicates found = Duplicates.of(Layouts.open(root));
        assertThat(found.groups()).containsExactly(List.of(0, 3, 7), List.of(5, 6));
        assertThat(found.uncompared()).isEmpty();
    }

    @Test
    void notesFilesThatCannotBeOpened() throws IOException {
        DatasetTrees.folders(root, 3, "a", "b");
        Dataset dataset = Layouts.open(root);
        Files.delete(root.resolve("a/a_0002.jpg"));
        Duplicates found = Duplicates.of(dataset);
        assertThat(found).isEqualTo(new Duplicates(List.of(), List.of(1)));
        assertThat(note(Protocol.parse("thirds:3").plan(dataset, found, 1).notes(), Kind.UNCOMPARED_FILES))
                .has(facts("1", "a/a_0002.jpg"));
    }

    @Test
    void rejectsOverlappingGroups() {
        for (List<List<Integer>> groups : List.of(List.of(List.of(1)), List.of(List.of(1, 2), List.of(2, 3)))) {
            assertRejected(() -> new Duplicates(groups, List.of()));
        }
    }

    @Test
    void foldRejectsRepeatedSamples() {
        assertRejected(() -> new Fold("one", List.of(1, 2), List.of(), List.of(2)), "one", "2");
        assertRejected(() -> new Fold("one", List.of(-1), List.of(), List.of(2)));
    }

    @Test
    void nearDuplicatesJoinIdenticalFiles() {
        Duplicates both = new Duplicates(
                List.of(List.of(0, 3), List.of(5, 6)), List.of(9), List.of(List.of(2, 3), List.of(7, 8)));
        assertThat(both.together()).containsExactly(List.of(0, 2, 3), List.of(5, 6), List.of(7, 8));
        assertThat(both.with(List.of()).together()).isEqualTo(both.groups());
        assertThat(both.within(List.of(2, 3, 5, 6, 8, 9)))
                .isEqualTo(new Duplicates(List.of(List.of(2, 3)), List.of(5), List.of(List.of(0, 1))));
    }
}
