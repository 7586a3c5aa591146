package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.gramian.basis.Sha256;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every damage to a file with checksums is found, and a file that changes while it is in use does no harm. */
final class ChecksumTest {
    private static final Map<String, String> METADATA =
            Map.of("classes", "[\"a\",\"b\"]", "note", "\"sha256_header\":\"x");

    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    @TempDir
    Path folder;

    private Path written(long elements) throws IOException {
        Path path = folder.resolve("file.safetensors");
        Random random = new Random(elements);
        Safetensors.writeChecked(
                path,
                Map.of(
                        "a", SampleTensors.tensor(DType.F32, Shape.of(elements), random),
                        "b", SampleTensors.tensor(DType.U8, Shape.of(3), random)),
                METADATA);
        return path;
    }

    @Test
    void everyBitFlipIsFound() throws IOException {
        Path path = written(5);
        byte[] sound = Files.readAllBytes(path);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(path, arena);
            assertThat(file.checked()).isTrue();
            assertThat(file.metadata()).isEqualTo(METADATA);
        }
        Path damaged = folder.resolve("damaged.safetensors");
        int headerEnd = sound.length - 23;
        // One bit of each byte, in turn, or all.
        for (int bit = 0; bit < 8 * sound.length; bit += FULL ? 1 : 9) {
            byte[] bytes = sound.clone();
            bytes[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(damaged, bytes);
            try (Arena arena = Arena.ofConfined()) {
                assertThatExceptionOfType(TensorFileException.class)
                        .as("bit %d of %d", bit, 8 * sound.length)
                        .isThrownBy(() -> Safetensors.read(damaged, arena))
                        .withMessageStartingWith(damaged + ": ");
                if (bit / 8 < headerEnd) {
                    assertThatExceptionOfType(TensorFileException.class)
                            .as("bit %d of the header", bit)
                            .isThrownBy(() -> Safetensors.header(damaged, arena));
                } else {
                    assertThat(Safetensors.header(damaged, arena).checked()).isTrue();
                }
            }
        }
    }

    @Test
    void dataOfSeveralPiecesIsTheHashOfTheirHashes() throws IOException {
        Path path = written((3 << 20) / 4 + 5);
        byte[] bytes = Files.readAllBytes(path);
        int from = bytes.length - (3 << 20) - 23;
        MessageDigest all = Sha256.digest();
        for (int at = from; at < bytes.length; at += 1 << 20) {
            all.update(Sha256.of(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + (1 << 20)))));
        }
        String header = new String(bytes, 8, from - 8, java.nio.charset.StandardCharsets.UTF_8);
        assertThat(header).contains("\"sha256_data\":\"" + Sha256.hex(all.digest()) + "\"");
        bytes[from + (2 << 20)] ^= 64;
        Files.write(path, bytes);
        try (Arena arena = Arena.ofConfined()) {
            assertRejected(TensorFileException.class, () -> Safetensors.read(path, arena));
        }
    }

    /** A mapped file that is shortened ends the process as soon as native code reads it. */
    @Test
    void aFileShortenedInPlaceWhileInUseKeepsItsContent() throws IOException {
        Path path = written(1 << 18);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = Safetensors.read(path, arena).get("a").data();
            byte last = data.get(ValueLayout.JAVA_BYTE, data.byteSize() - 1);
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                channel.truncate(10);
            }
            assertThat(data.isMapped()).isFalse();
            assertThat(data.get(ValueLayout.JAVA_BYTE, data.byteSize() - 1)).isEqualTo(last);
        }
    }
}
