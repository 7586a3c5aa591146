package org.gramian.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TextureSetTest {
    private static final TextureSet SMALL = new TextureSet(3, 48, 5);

    @Test
    void seedDeterminesBytes() throws IOException {
        Set<Integer> seen = new HashSet<>();
        for (TextureKind kind : TextureKind.values()) {
            assertThat(SMALL.bytes(kind, 1)).isEqualTo(new TextureSet(99, 48, 5).bytes(kind, 1));
            for (TextureSet set : List.of(SMALL, new TextureSet(3, 48, 6))) {
                for (int number = 0; number < set.images(); number++) {
                    seen.add(Arrays.hashCode(set.bytes(kind, number)));
                }
            }
        }
        assertThat(seen).as("all images differ").hasSize(2 * SMALL.size());
    }

    @ParameterizedTest
    @EnumSource
    void patternCoversBrightnessRange(TextureKind kind) {
        for (int draw = 0; draw < 20; draw++) {
            SplittableRandom random = new SplittableRandom(draw);
            TexturePattern pattern = kind.pattern(random);
            double least = 1;
            double most = 0;
            for (int i = 0; i < 4000; i++) {
                double value = pattern.at(random.nextDouble(-20, 20), random.nextDouble(-20, 20));
                assertThat(value).isBetween(0.0, 1.0);
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
            assertThat(most - least).isGreaterThan(0.5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void meanColourIsIndependentOfClass(TextureKind kind) throws IOException {
        double[] sums = new double[3];
        int draws = 60;
        for (int number = 0; number < draws; number++) {
            BufferedImage image = read(new TextureSet(draws, 32, 11).bytes(kind, number));
            for (int i = 0; i < 32 * 32; i++) {
                int rgb = image.getRGB(i % 32, i / 32);
                for (int channel = 0; channel < 3; channel++) {
                    sums[channel] += (rgb >> (8 * channel)) & 0xff;
                }
            }
        }
        for (double sum : sums) {
            // Images of any class spread by about 40, so the mean of 60 by about 5.
            assertThat(sum / draws / (32 * 32)).isBetween(127.0 - 25, 127.0 + 25);
        }
    }

    @Test
    void completesFolderWithoutChangingImages(@TempDir Path folder) throws IOException {
        AtomicLong most = new AtomicLong();
        assertThat(SMALL.write(folder, done -> most.accumulateAndGet(done, Math::max), () -> false))
                .isTrue();
        assertThat(most).hasValue(30);
        try (Stream<Path> files = Files.walk(folder).filter(Files::isRegularFile)) {
            assertThat(files).hasSize(30);
        }
        Path one = folder.resolve("wood/wood_002.jpg");
        assertThat(read(Files.readAllBytes(one)).getWidth()).isEqualTo(48);
        assertThat(Files.readAllBytes(one)).isEqualTo(SMALL.bytes(TextureKind.WOOD, 1));
        Files.writeString(one, "mine");
        Files.delete(folder.resolve("dots/dots_001.jpg"));
        assertThat(SMALL.write(folder, _ -> {}, () -> false)).isTrue();
        assertThat(one).hasContent("mine");
        assertThat(folder.resolve("dots/dots_001.jpg")).hasBinaryContent(SMALL.bytes(TextureKind.DOTS, 0));
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

    @Test
    void rejectsImpossibleSizes() {
        assertThatIllegalArgumentException().isThrownBy(() -> new TextureSet(0, 48, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new TextureSet(1, 8, 1))
                .has(facts("32", "1024"));
    }

    private static BufferedImage read(byte[] bytes) throws IOException {
        return ImageIO.read(new ByteArrayInputStream(bytes));
    }
}
