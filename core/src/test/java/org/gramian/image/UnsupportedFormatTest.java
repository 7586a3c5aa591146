package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.gramian.image.ImageFormat.UnsupportedFormat;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class UnsupportedFormatTest {
    private static final String FTYP = "\0\0\0 ftyp";

    private static byte[] bytes(String text) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), 80);
    }

    @ParameterizedTest
    @CsvSource({
        "heic----mif1heic, HEIC",
        "mif1----mif1heic, HEIC",
        "avif----mif1avif, AVIF",
        "mif1----mif1avif, AVIF",
        "isom----isomiso2, VIDEO",
        "mp42----mp42isom, VIDEO",
        "qt  ----qt      , VIDEO"
    })
    void detectsHeicAvifAndVideosByBrand(String brands, UnsupportedFormat format) {
        assertThat(UnsupportedFormat.of(bytes(FTYP + brands))).contains(format);
    }

    @Test
    void detectsOtherFormatsByFirstBytes() {
        assertThat(UnsupportedFormat.of(bytes("RIFF----AVI LIST"))).contains(UnsupportedFormat.VIDEO);
        assertThat(UnsupportedFormat.of(bytes("\u001aE\u00df\u00a3"))).contains(UnsupportedFormat.VIDEO);
        assertThat(UnsupportedFormat.of(bytes("\0\0\0\fJXL \r\n"))).contains(UnsupportedFormat.JPEG_XL);
        assertThat(UnsupportedFormat.of(bytes("\0\0\0\fjP  \r\n"))).contains(UnsupportedFormat.JPEG_2000);
        assertThat(UnsupportedFormat.of(bytes(FTYP + "crx "))).isEmpty();
        assertThat(UnsupportedFormat.of(bytes("RIFF----WAVE"))).isEmpty();
        assertThat(UnsupportedFormat.of(bytes("some text"))).isEmpty();
        assertThat(UnsupportedFormat.of(new byte[3])).isEmpty();
    }

    @Test
    void listsFilesByContent(@TempDir Path folder) throws IOException {
        Files.write(folder.resolve("phone"), bytes(FTYP + "heic"));
        Files.write(folder.resolve("clip.mp4"), bytes(FTYP + "isom"));
        Files.write(folder.resolve("clip.dat"), bytes(FTYP + "mp42"));
        Files.writeString(folder.resolve("notes.txt"), "notes");
        Dataset dataset = new Flat().read(folder);
        assertThat(dataset.samples())
                .singleElement()
                .satisfies(sample -> assertThat(sample.name()).isEqualTo("phone"));
        assertThat(dataset.notes().stream().map(Note::text))
                .anyMatch(text ->
                        text.startsWith("2 videos ") && text.contains("ffmpeg ") && text.endsWith("clip.dat, clip.mp4"))
                .anyMatch(text -> text.endsWith("notes.txt"));
    }
}
