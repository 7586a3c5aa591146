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
class OutputFolderTest {
    private final Configuration hadoop = new Configuration();

    @TempDir
    private Path folder;

    private void assertRefused(Path replaced, Object read) {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        OutputFolder.requireNoOverlap(replaced.toString(), List.of("apart", read.toString()), hadoop))
                .withMessageContainingAll("--out", replaced.toString(), read.toString(), "--overwrite");
    }

    @Test
    void overlapOfOutputAndInputIsRejected() throws IOException {
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
    void pathsWithCommonPrefixDoNotOverlap() throws IOException {
        Path photos = Files.createDirectories(folder.resolve("photos"));
        Path model = Files.writeString(folder.resolve("model.safetensors"), "a model");
        List<String> read = List.of(
                photos.toString(),
                photos + "/no-match-*",
                model.toString(),
                folder.resolve("missing").toString());

        for (String name : List.of("photos2", "answers/of", "model.safetensors2")) {
            assertThatCode(() ->
                            OutputFolder.requireNoOverlap(folder.resolve(name).toString(), read, hadoop))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void incompleteFolderIsRemovedAndCompleteFolderIsKept() throws IOException {
        Path half = folder.resolve("half");
        Path whole = folder.resolve("whole");

        try (OutputFolder _ = OutputFolder.begin(half.toString(), false, hadoop)) {
            Files.writeString(half.resolve("part"), "half");
        }
        try (OutputFolder begun = OutputFolder.begin(whole.toString(), false, hadoop)) {
            Files.writeString(whole.resolve("part"), "all");
            begun.keep();
        }

        assertThat(half).doesNotExist();
        assertThat(whole).isDirectoryContaining(file -> file.endsWith("part"));
        assertThat(whole.toFile().list()).containsExactly("part");
    }

    @Test
    void folderOfAnotherJobIsRejectedAndKept() throws IOException {
        Path out = folder.resolve("out");
        String place = out.toString();

        try (OutputFolder other = OutputFolder.begin(place, false, hadoop)) {
            Files.writeString(out.resolve("part"), "another's");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> OutputFolder.begin(place, false, hadoop).close())
                    .withMessageContaining(place);
            assertThat(out.resolve("part")).exists();
            other.keep();
        }
    }

    @Test
    void folderReplacedByAnotherJobIsKept() throws IOException {
        Path out = folder.resolve("out");
        OutputFolder first = OutputFolder.begin(out.toString(), false, hadoop);
        OutputFolder second = OutputFolder.begin(out.toString(), true, hadoop);
        Files.writeString(out.resolve("part"), "the second's");

        first.close();

        assertThat(out.resolve("part")).exists();
        second.keep();
        second.close();
        assertThat(out.resolve("part")).exists();
    }
}
