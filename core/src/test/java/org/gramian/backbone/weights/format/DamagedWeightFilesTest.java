package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Flipped bits, cuts and foreign bytes: every file ends in tensors or in a sentence, soon. */
@Timeout(120)
final class DamagedWeightFilesTest {
    private static final int DAMAGES = Boolean.getBoolean("gramian.full") ? 400 : 20;

    @TempDir
    Path folder;

    private static SequencedMap<String, StoredTensor> tensors(Random random) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        tensors.put("conv/conv/kernel:0", Tensors32.random(random, Shape.of(3, 3, 2, 2)));
        tensors.put("conv/conv/bias:0", Tensors32.random(random, Shape.of(2)));
        tensors.put("dense/dense/kernel:0", Tensors32.random(random, Shape.of(4, 3)));
        return tensors;
    }

    @RandomTest(times = 10)
    void aDamagedTorchFileEndsInTensorsOrASentence(Seed seed) throws IOException {
        Random random = new Random(seed.value());
        damage(Files.readAllBytes(TorchFixtureTest.fixture("zip.pth")), random);
        damage(Files.readAllBytes(PublishedFiles.torchZip(folder.resolve("a"), tensors(random))), random);
    }

    private void damage(byte[] whole, Random random) throws IOException {
        Path path = folder.resolve("damaged");
        for (int i = 0; i < DAMAGES; i++) {
            byte[] damaged =
                    random.nextInt(5) == 0 ? Arrays.copyOf(whole, random.nextInt(whole.length)) : whole.clone();
            for (int flips = random.nextInt(1, 4); flips > 0 && damaged.length > 0; flips--) {
                int at = random.nextInt(damaged.length);
                damaged[at] = random.nextInt(3) == 0
                        ? (byte) (random.nextBoolean() ? 0xff : 0)
                        : (byte) (damaged[at] ^ 1 << random.nextInt(8));
            }
            Files.write(path, damaged);
            try (Arena arena = Arena.ofConfined()) {
                WeightFile.read(path, arena, _ -> {}).tensors().values().forEach(DamagedWeightFilesTest::touch);
            } catch (TensorFileException refused) {
                assertThat(refused.getMessage()).startsWith(path + ": ").doesNotContain("\n");
            }
        }
    }

    /** Reads every byte, to be sure that it is there. */
    private static void touch(StoredTensor tensor) {
        assertThat(tensor.data().toArray(ValueLayout.JAVA_BYTE))
                .hasSize((int) tensor.data().byteSize());
    }
}
