package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class OutputOptionsTest {
    private final Configuration hadoop = new Configuration();

    @TempDir
    private Path folder;

    private static OutputOptions options(Object... words) {
        OutputOptions options = new OutputOptions();
        new CommandLine(options)
                .parseArgs(List.of(words).stream().map(Object::toString).toArray(String[]::new));
        return options;
    }

    private void assertRefused(Path replaced, Object read) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options("--out", replaced, "--overwrite").check(List.of(read.toString()), hadoop))
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

        for (String name : List.of("photos2", "answers/of", "model.safetensors2")) {
            assertThatCode(() -> options("--out", folder.resolve(name), "--overwrite")
                            .check(List.of(photos.toString(), model.toString()), hadoop))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void incompleteFolderIsRemovedAndCompleteFolderIsKept() throws IOException, InterruptedException {
        Path half = folder.resolve("half");
        Path whole = folder.resolve("whole");

        assertThatThrownBy(() -> options("--out", half).write(hadoop, () -> {
                    Files.writeString(Files.createDirectory(half).resolve("part"), "half");
                    throw new IOException("simulated");
                }))
                .hasMessage("simulated");
        Path part = options("--out", whole)
                .write(
                        hadoop,
                        () -> Files.writeString(Files.createDirectory(whole).resolve("part"), "all"));

        assertThat(half).doesNotExist();
        assertThat(part).exists();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options("--out", whole).write(hadoop, () -> part))
                .withMessageContaining(whole.toString());
        assertThat(part).exists();
    }
}
