package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model file that cannot be used is one clear sentence and exit code 4, whichever command reads it. */
final class BadModelTest {
    @TempDir
    private Path root = Path.of("");

    private Path photos = Path.of("");
    private Path model = Path.of("");

    @BeforeEach
    void write() throws IOException {
        photos = ImageFolder.tiny(root.resolve("pictures")).root();
        model = TinyModel.write(root.resolve("model.safetensors"), "center:32");
    }

    private void assertRefused(Facts words) {
        for (List<Object> line : List.<List<Object>>of(
                List.of("show", model),
                List.of("predict", model, photos.resolve("wood/1.bmp")),
                List.of("evaluate", model, photos),
                List.of("embed", model, photos, root.resolve("out.safetensors")))) {
            Run run = Run.of(line.toArray());
            assertThat(run.code()).as("%s: %s", line, run.err()).isEqualTo(ExitCode.MODEL);
            assertThat(run.err())
                    .as("%s", line)
                    .contains("model.safetensors: ")
                    .has(words)
                    .doesNotContain("Exception");
            assertThat(run.out()).isEmpty();
        }
        assertThat(root.resolve("out.safetensors")).doesNotExist();
    }

    /** Replaces a text in the header, which must keep its length, of a file without checksums. */
    private void replace(String found, String other) throws IOException {
        String content = Files.readString(model, StandardCharsets.ISO_8859_1);
        assertThat(content).contains(found);
        assertThat(other).hasSameSizeAs(found);
        String unchecked = Pattern.compile("\"sha256_\\w+\":\"\\w+\",")
                .matcher(content.replace(found, other))
                .replaceAll(checksum -> " ".repeat(checksum.group().length()));
        Files.writeString(model, unchecked, StandardCharsets.ISO_8859_1);
    }

    @Test
    void cutShort() throws IOException {
        byte[] whole = Files.readAllBytes(model);
        Files.write(model, Arrays.copyOf(whole, whole.length - 100));
        assertRefused(facts("gramian train"));
    }

    @Test
    void aWrongShape() throws IOException {
        // The same number of values: a safetensors file that is sound in itself.
        replace("\"shape\":[4,6]", "\"shape\":[6,4]");
        assertRefused(facts("classifier.weight", "[4, 6]", "[6, 4]"));
    }

    @Test
    void aNewerVersion() throws IOException {
        replace("\"version\":\"1\"", "\"version\":\"9\"");
        assertRefused(facts("9", "1"));
    }
}
