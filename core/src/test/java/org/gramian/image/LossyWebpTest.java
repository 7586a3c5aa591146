package org.gramian.image;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.resource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.WebpImage.Libwebp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds lossy WebP against what libwebp makes of the same files. */
final class LossyWebpTest {
    /** Where the frame begins in a file that has nothing else. */
    private static final int FRAME = 20;

    /** A file and the SHA-256 of its pixels as libwebp decodes them, over white. */
    record Expected(String hash, String name) {
        byte[] content() {
            return resource("lossy/" + name);
        }
    }

    static Stream<Expected> files() {
        return new String(resource("lossy/expected.sha256"), UTF_8).lines().map(line -> {
            String[] words = line.split(" +", 2);
            return new Expected(words[0], words[1]);
        });
    }

    @ParameterizedTest
    @MethodSource("files")
    void pixelsEqualReference(Expected file) throws NoSuchAlgorithmException {
        ReadResult.Readable reading = read(file.content());
        byte[] hash =
                MessageDigest.getInstance("SHA-256").digest(reading.image().rgb());
        assertThat(HexFormat.of().formatHex(hash)).isEqualTo(file.hash);
        boolean alpha = file.name.startsWith("alpha") || file.name.startsWith("animated");
        assertThat(reading.origin().colour()).isEqualTo(alpha ? Colour.RGB_ALPHA : Colour.RGB);
        assertThat(reading.origin().orientation()).isEqualTo(file.name.startsWith("turned") ? 6 : 1);
    }

    /** A file that was cut and whose sizes were then made to agree: only the frame itself tells. */
    @Test
    void rejectsTruncatedFrames() {
        byte[] content = resource("lossy/even.webp");
        int frame = content.length - FRAME;
        for (int length = 10; length < frame - 8; length += 7) {
            byte[] cut = Arrays.copyOf(content, FRAME + length + (length & 1));
            ByteBuffer.wrap(cut)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(4, cut.length - 8)
                    .putInt(16, length);
            assertThat(refused(cut).problem()).as("%d bytes", length).isIn(Problem.TRUNCATED, Problem.CORRUPT);
        }
    }

    @Test
    void rejectsInvalidFrames() {
        int[] places = {0, 0, 0, 3};
        int[] changes = {1, 8, 0x10, 1};
        for (int i = 0; i < places.length; i++) {
            byte[] content = resource("lossy/even.webp");
            content[FRAME + places[i]] ^= (byte) changes[i];
            assertThat(refused(content).problem()).isEqualTo(Problem.CORRUPT);
        }
    }

    @Test
    void reportsLibraryThatCannotBeUnpacked(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> Libwebp.load(() -> file).orThrow())
                .hasMessageContaining(file.toString())
                .hasMessageContaining("GRAMIAN_CACHE");
    }

    @Test
    void removesLeftCopiesOfLibrary(@TempDir Path folder) throws IOException {
        Path copies = Files.createDirectory(folder.resolve("webp"));
        Path old = Files.createFile(copies.resolve("old.so"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        Path recent = Files.createFile(copies.resolve("recent.so"));
        assertThat(Libwebp.load(() -> folder).failure()).isEmpty();
        assertThat(old).doesNotExist();
        assertThat(recent).exists();
    }
}
