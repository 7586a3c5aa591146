package org.gramian.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextureSetTest {
    private static final TextureSet SMALL = new TextureSet(3, 48, 5);

    @Test
    void seedDeterminesBytes() throws IOException {
        Set<Integer> seen = new HashSet<>();
        for (int label = 0; label < 6; label++) {
            assertThat(SMALL.bytes(label, 1)).isEqualTo(new TextureSet(99, 48, 5).bytes(label, 1));
            for (TextureSet set : List.of(SMALL, new TextureSet(3, 48, 6))) {
                for (int number = 0; number < set.images(); number++) {
                    seen.add(Arrays.hashCode(set.bytes(label, number)));
                }
            }
        }
        assertThat(seen).as("all images differ").hasSize(2 * SMALL.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    void meanColourIsIndependentOfClass(int label) throws IOException {
        double[] sums = new double[3];
        int draws = 60;
        for (int number = 0; number < draws; number++) {
            BufferedImage image = read(new TextureSet(draws, 32, 11).bytes(label, number));
            for (int i = 0; i < 32 * 32; i++) {
                int rgb = image.getRGB(i % 32, i / 32);
                for (int channel = 0; channel < 3; channel++) {
                    sums[channel] += (rgb >> (8 * channel)) & 0xff;
                }
            }
        }
        for (double sum : sums) {
            // images spread by about 25, so the mean of 60 by about 3
            assertThat(sum / draws / (32 * 32)).isBetween(125.0 - 12, 125.0 + 12);
        }
    }

    @Test
    void completesFolderWithoutChangingImages(@TempDir Path folder) throws IOException {
        AtomicLong most = new AtomicLong();
        assertThat(SMALL.write(folder, done -> most.accumulateAndGet(done, Math::max), () -> false))
                .isTrue();
        assertThat(most).hasValue(18);
        try (Stream<Path> files = Files.walk(folder).filter(Files::isRegularFile)) {
            assertThat(files).hasSize(18);
        }
        Path one = folder.resolve("blue-green-red/002.jpg");
        assertThat(read(Files.readAllBytes(one)).getWidth()).isEqualTo(48);
        assertThat(Files.readAllBytes(one)).isEqualTo(SMALL.bytes(5, 1));
        Files.writeString(one, "mine");
        Files.delete(folder.resolve("red-green-blue/001.jpg"));
        assertThat(SMALL.write(folder, _ -> {}, () -> false)).isTrue();
        assertThat(one).hasContent("mine");
        assertThat(folder.resolve("red-green-blue/001.jpg")).hasBinaryContent(SMALL.bytes(0, 0));
    }

    @Test
    void cancellationLeavesCompleteImages(@TempDir Path folder) throws IOException {
        AtomicInteger requested = new AtomicInteger();
        assertThat(SMALL.write(folder, _ -> {}, () -> requested.incrementAndGet() > 10))
                .isFalse();
        try (Stream<Path> files = Files.walk(folder).filter(Files::isRegularFile)) {
            assertThat(files.toList())
                    .hasSize(10)
                    .allSatisfy(file -> assertThat(ImageIO.read(file.toFile())).isNotNull());
        }
    }

    private static BufferedImage read(byte[] bytes) throws IOException {
        return ImageIO.read(new ByteArrayInputStream(bytes));
    }
}
