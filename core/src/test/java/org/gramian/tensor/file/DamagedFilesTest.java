package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random damage to good files: they are read, or rejected with a {@link TensorFileException}, and nothing else. */
@Timeout(120)
final class DamagedFilesTest {
    private static final int ROUNDS = Boolean.getBoolean("gramian.full") ? 2000 : 150;

    /** Bytes that mean something to a header are more likely to do harm than random ones. */
    private static final byte[] MEANINGFUL = "{}[]()\"':,0123456789-+.eE \\\n".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    @FunctionalInterface
    private interface Reader {
        Collection<StoredTensor> read(Path path, Arena arena) throws IOException;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void damagedSafetensorsAreReadOrRejected(long seed) throws IOException {
        Random random = new Random(seed);
        Path path = folder.resolve("file.safetensors");
        Map<String, StoredTensor> tensors = Map.of(
                "a", SampleTensors.tensor(DType.F32, Shape.of(3, 2), random),
                "b", SampleTensors.tensor(DType.I64, Shape.of(), random),
                "c", SampleTensors.tensor(DType.U8, Shape.of(4, 0, 5), random));
        Safetensors.write(path, tensors, Map.of("about", "a sample"));
        assertReadOrRejected(
                path,
                random,
                (file, arena) -> Safetensors.read(file, arena).tensors().values());
    }

    private void assertReadOrRejected(Path path, Random random, Reader reader) throws IOException {
        byte[] whole = Files.readAllBytes(path);
        int rejected = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] damaged = damage(whole, random);
            Files.write(path, damaged);
            try (Arena arena = Arena.ofConfined()) {
                for (StoredTensor tensor : reader.read(path, arena)) {
                    byte[] everyByte = tensor.data().toArray(ValueLayout.JAVA_BYTE);
                    assertThat(everyByte).hasSize((int) tensor.data().byteSize());
                }
            } catch (TensorFileException e) {
                rejected++;
            } catch (IOException | RuntimeException | Error e) {
                throw new AssertionError("round " + round + ", file " + Arrays.toString(damaged), e);
            }
        }
        assertThat(rejected).isBetween(ROUNDS / 4, ROUNDS);
    }

    private static byte[] damage(byte[] whole, Random random) {
        byte[] damaged = whole.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(damaged.length);
            damaged[at] = switch (random.nextInt(3)) {
                case 0 -> (byte) random.nextInt(256);
                case 1 -> (byte) (damaged[at] ^ (1 << random.nextInt(8)));
                default -> MEANINGFUL[random.nextInt(MEANINGFUL.length)];
            };
        }
        return switch (random.nextInt(8)) {
            case 0 -> Arrays.copyOf(damaged, random.nextInt(damaged.length));
            case 1 -> Arrays.copyOf(damaged, damaged.length + random.nextInt(64));
            case 2 -> Arrays.copyOfRange(damaged, random.nextInt(16), damaged.length);
            default -> damaged;
        };
    }
}
