package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a command may remove at the place where it writes, and what it makes of that place. */
class OutputPlaceTest {
    private final Configuration hadoop = new Configuration();

    @TempDir
    private Path folder;

    private void assertRefused(Path replaced, Object read) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Overlap.refuse(replaced.toString(), List.of("apart", read.toString()), hadoop))
                .withMessageContainingAll("--out: ", "found " + replaced + ", and " + read, "--overwrite");
    }

    @Test
    void whatIsReplacedMustNeitherBeNorHoldNorLieInWhatIsRead() throws IOException {
        Path photos = Files.createDirectories(folder.resolve("photos"));
        Path cats = Files.createDirectories(photos.resolve("cats"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), photos);

        assertRefused(photos, photos);
        assertRefused(photos, cats);
        assertRefused(folder, photos);
        assertRefused(photos.resolve("answers"), photos);
        assertRefused(photos.resolve("../photos/answers"), photos.toUri());
        assertRefused(cats, photos + "/c*");
        assertRefused(link.resolve("cats"), photos);
        assertRefused(photos, link);
    }

    @Test
    void placesBesideEachOtherAreApartThoughTheirNamesBeginAlike() throws IOException {
        Path photos = Files.createDirectories(folder.resolve("photos"));
        Path model = Files.writeString(folder.resolve("model.safetensors"), "a model");
        List<String> read = List.of(
                photos.toString(),
                photos + "/no-match-*",
                model.toString(),
                folder.resolve("missing").toString());

        for (String name : List.of("photos2", "answers/of", "model.safetensors2")) {
            assertThatCode(() -> Overlap.refuse(folder.resolve(name).toString(), read, hadoop))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void aFolderThatDoesNotGetWholeIsRemovedAndOneThatDoesIsKeptWithoutAMark() throws IOException {
        Path half = folder.resolve("half");
        Path whole = folder.resolve("whole");

        try (NewFolder _ = NewFolder.begin(half.toString(), false, hadoop)) {
            Files.writeString(half.resolve("part"), "half");
        }
        try (NewFolder begun = NewFolder.begin(whole.toString(), false, hadoop)) {
            Files.writeString(whole.resolve("part"), "all");
            begun.keep();
        }

        assertThat(half).doesNotExist();
        assertThat(whole).isDirectoryContaining(file -> file.endsWith("part"));
        assertThat(whole.toFile().list()).containsExactly("part");
    }

    @Test
    void whatAnotherJobBeganIsNeitherTakenNorRemoved() throws IOException {
        Path out = folder.resolve("out");
        String place = out.toString();

        try (NewFolder other = NewFolder.begin(place, false, hadoop)) {
            Files.writeString(out.resolve("part"), "another's");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> NewFolder.begin(place, false, hadoop).close())
                    .withMessageContainingAll("--out: ", "--overwrite");
            assertThat(out.resolve("part")).exists();
            other.keep();
        }
    }

    @Test
    void aJobWhoseFolderWasReplacedByAnotherLeavesThatAlone() throws IOException {
        Path out = folder.resolve("out");
        NewFolder first = NewFolder.begin(out.toString(), false, hadoop);
        NewFolder second = NewFolder.begin(out.toString(), true, hadoop);
        Files.writeString(out.resolve("part"), "the second's");

        first.close();

        assertThat(out.resolve("part")).exists();
        second.keep();
        second.close();
        assertThat(out.resolve("part")).exists();
    }
}
