package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.lively;

import java.awt.image.BufferedImage;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.JpegImage.JpegHeader;
import org.junit.jupiter.api.Test;

/** Of two readers of JPEGs the quick one may only ever give what the other would have given. */
final class FastJpegTest {
    private static final int MUTANTS = Boolean.getBoolean("gramian.full") ? 20_000 : 1_000;

    /** Files as the JDK writes them, which come first. */
    private static final int WITHOUT_EXTRAS = 12;

    private static final List<byte[]> FILES = files();

    private static List<byte[]> files() {
        List<byte[]> files = new ArrayList<>();
        for (int width : new int[] {1, 8, 61}) {
            for (boolean progressive : new boolean[] {false, true}) {
                files.add(jpeg(image(lively(width, 43), BufferedImage.TYPE_3BYTE_BGR), progressive));
                files.add(jpeg(image(lively(width, 43), BufferedImage.TYPE_BYTE_GRAY), progressive));
            }
        }
        byte[] plain = files.getLast();
        byte[] colours = files.get(files.size() - 4);
        for (byte[] file : List.of(plain, colours)) {
            files.add(JpegFile.withoutJfif(file));
            files.add(JpegFile.withOrientation(file, 6, ByteOrder.BIG_ENDIAN));
            files.add(JpegFile.withOrientation(JpegFile.withoutJfif(file), 3, ByteOrder.LITTLE_ENDIAN));
            files.add(JpegFile.with(file, 0xe2, "ICC_PROFILE\0\3\7 none".getBytes(StandardCharsets.US_ASCII)));
            files.add(JpegFile.with(file, 0xfe, "a comment".getBytes(StandardCharsets.US_ASCII)));
            for (int transform : new int[] {0, 1}) {
                files.add(JpegFile.withAdobe(file, transform));
                files.add(JpegFile.withAdobe(JpegFile.withoutJfif(file), transform));
            }
        }
        return files;
    }

    @Test
    void fastReaderReadsUsualFiles() throws UnreadableException {
        for (byte[] file : FILES.subList(0, WITHOUT_EXTRAS)) {
            assertThat(JpegHeader.of(file).isUsual()).isTrue();
            assertThat(JpegImage.fast(file, JpegHeader.of(file), bounds(file))).isPresent();
        }
    }

    @Test
    void bothReadersAgreeOnGoodFiles() throws UnreadableException {
        for (byte[] file : FILES) {
            JpegHeader header = JpegHeader.of(file);
            Optional<Image> quick =
                    JpegImage.fast(file, header, bounds(file)); // none where it warns, as of a broken profile
            byte[] expected = forgiven(file, header).rgb();
            assertThat(quick.map(Image::rgb).orElse(expected)).isEqualTo(expected);
        }
    }

    @Test
    void fastAndTolerantReaderAgreeOnDamagedFiles() {
        SplittableRandom random = new SplittableRandom(7);
        int accepted = 0;
        for (int i = 0; i < MUTANTS; i++) {
            Mutation[] all = Mutation.values();
            byte[] mutant =
                    all[random.nextInt(all.length)].apply(FILES.get(random.nextInt(FILES.size())), FILES, random);
            accepted += agrees(mutant, i) ? 1 : 0;
        }
        assertThat(accepted).isGreaterThan(MUTANTS / 20); // else this says little
    }

    private static boolean agrees(byte[] mutant, int number) {
        Optional<Image> quick = Optional.empty();
        try {
            JpegHeader header = JpegHeader.of(mutant);
            bounds(mutant).checkSize(header.frame().width(), header.frame().height());
            quick = header.isUsual() ? JpegImage.fast(mutant, header, bounds(mutant)) : quick;
            if (quick.isPresent()) {
                assertThat(quick.get().rgb())
                        .as("mutant %d", number)
                        .isEqualTo(forgiven(mutant, header).rgb());
            }
        } catch (UnreadableException refused) {
            assertThat(quick).as("mutant %d: %s", number, refused.getMessage()).isEmpty();
        }
        return quick.isPresent();
    }

    private static Image forgiven(byte[] file, JpegHeader header) throws UnreadableException {
        return JpegImage.tolerant(file, header, bounds(file));
    }

    private static DecodingLimits bounds(byte[] file) {
        return new DecodingLimits(ImageFormat.JPEG, new ImageLimits(1 << 24, 1 << 20), file.length, () -> false);
    }
}
