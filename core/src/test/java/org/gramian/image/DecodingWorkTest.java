package org.gramian.image;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.written;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Images of a few pixels with megabytes of data that decode to nothing. */
final class DecodingWorkTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final int BYTES = FULL ? 20_000_000 : 4_000_000;

    private static void assertRejectedFast(byte[] file) {
        long start = System.nanoTime();
        assertThat(refused(file).problem()).isEqualTo(Problem.TOO_LARGE);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    }

    /** A GIF of some pixels whose data repeat a code of {@code size + 1} bits. */
    private static byte[] gif(int side, int size, int code, int bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("GIF89a".getBytes(US_ASCII));
        ByteBuffer head = ByteBuffer.allocate(7 + 6 + 10).order(ByteOrder.LITTLE_ENDIAN);
        head.putShort((short) side).putShort((short) side).put((byte) 0x80).putShort((short) 0);
        head.put(new byte[] {0, 0, 0, 1, 1, 1}).put((byte) 0x2c).putInt(0);
        head.putShort((short) side).putShort((short) side).put((byte) 0);
        out.writeBytes(head.array());
        out.write(size);
        BitSet codes = new BitSet();
        for (int at = 0; at + size < 8 * bytes; ) {
            at = bits(codes, at, code, size + 1);
        }
        byte[] data = Arrays.copyOf(codes.toByteArray(), bytes);
        for (int from = 0; from < bytes; from += 255) {
            int length = Math.min(255, bytes - from);
            out.write(length);
            out.write(data, from, length);
        }
        out.write(0);
        out.write(0x3b);
        return out.toByteArray();
    }

    private static byte[] tiff(int side, int compression, byte[] data) {
        int[][] tags = {
            {256, 3, side},
            {257, 3, side},
            {258, 3, 8},
            {259, 3, compression},
            {262, 3, 1},
            {273, 4, 8},
            {277, 3, 1},
            {278, 3, side},
            {279, 4, data.length}
        };
        int directory = 8 + data.length + (data.length & 1);
        ByteBuffer out = ByteBuffer.allocate(directory + 6 + 12 * tags.length).order(ByteOrder.LITTLE_ENDIAN);
        out.put((byte) 'I')
                .put((byte) 'I')
                .putShort((short) 42)
                .putInt(directory)
                .put(data)
                .position(directory);
        out.putShort((short) tags.length);
        for (int[] tag : tags) {
            out.putShort((short) tag[0]).putShort((short) tag[1]).putInt(1).putInt(tag[2]);
        }
        return out.array();
    }

    /** 20 MB took 24 to 40 s. */
    @ParameterizedTest
    @CsvSource({"8, 2", "8, 8", "4000, 2"})
    void rejectsGifOfClearCodes(int side, int codeBits) {
        assertRejectedFast(gif(side, codeBits, 1 << codeBits, BYTES));
        assertThat(new ImageReader(ImageLimits.DEFAULT).pixels(gif(side, codeBits, 1 << codeBits, BYTES)))
                .isZero();
    }

    @Test
    void rejectsGifWithDataAfterLastPixel() {
        assertRejectedFast(gif(8, 8, 0, BYTES));
    }

    /** Encoders that avoided a patent wrote a clear code for every 254 pixels. */
    @Test
    void readsGifWithFewClearCodes() {
        byte[] plain = gif(8, 8, 0, 100);
        assertThat(read(plain).image().width()).isEqualTo(8);
        byte[] lively = written(image(lively(300, 200), BufferedImage.TYPE_3BYTE_BGR), "gif");
        assertThat(read(lively).image().width()).isEqualTo(300);
    }

    /** Empty deflate blocks, and CCITT codes without a row. */
    @ParameterizedTest
    @ValueSource(ints = {8, 2, 3, 4})
    void rejectsTiffOfNothing(int compression) {
        assertRejectedFast(tiff(8, compression, compression == 8 ? emptyBlocks() : new byte[BYTES]));
    }

    @Test
    void rejectsPngOfNothing() {
        assertRejectedFast(PngFile.of(8, 8, 8, 0)
                .chunk("IDAT", emptyBlocks())
                .chunk("IEND")
                .content());
        PngFile many = PngFile.of(8, 8, 8, 0);
        for (int i = 0; i < BYTES / 12; i++) {
            many.chunk("IDAT");
        }
        assertRejectedFast(many.chunk("IEND").content());
    }

    /** Returns a zlib stream of stored blocks without bytes. */
    private static byte[] emptyBlocks() {
        byte[] data = new byte[BYTES];
        data[0] = 0x78;
        data[1] = 0x01;
        for (int i = 2; i + 5 <= BYTES; i += 5) {
            data[i + 3] = -1;
            data[i + 4] = -1;
        }
        return data;
    }

    /** 65,536 groups of prefix codes, of which 256 pixels use one. */
    @Test
    void rejectsWebpOfManyPrefixCodes() {
        BitSet bits = new BitSet();
        int at = groups(bits, 16);
        for (int symbol : new int[] {255, 255, 0, 0, 0}) { // each group is number 65,535
            at = bits(bits, bits(bits, at, 0b101, 3), symbol, 8);
        }
        for (int i = 0; i < 5 * 65_536; i++) {
            at = bits(bits, at, 1, 4);
        }
        assertRejectedFast(webp(bits, at));
    }

    /** As many groups, each used by 16 pixels of a megapixel: the most memory that groups can take. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void prefixCodesOfWebpTakeBoundedMemory() throws IOException {
        assumeTrue(FULL, "under gramian.full");
        BitSet bits = new BitSet();
        int at = groups(bits, 1024);
        for (int symbols : new int[] {280, 256}) { // of green and red, 256 of 8 bits each
            at = bits(bits, bits(bits, at, 0, 1), 12 - 4, 4);
            for (int i = 0; i < 12; i++) { // lengths are 0, the third in the order of the format, or 8
                at = bits(bits, at, i == 2 || i == 11 ? 1 : 0, 3);
            }
            at = bits(bits, at, 0, 1);
            for (int symbol = 0; symbol < symbols; symbol++) {
                at = bits(bits, at, symbol < 256 ? 1 : 0, 1);
            }
        }
        at = bits(bits, at, 0b0001_0001_0001, 12); // one symbol of blue, alpha and distance
        for (int group = 0; group < 65_536; group++) {
            at = bits(bits, at, group, 16);
        }
        for (int i = 0; i < 5 * 65_536; i++) {
            at = bits(bits, at, 1, 4);
        }
        byte[] file = webp(bits, at);
        Files.writeString(Path.of("/proc/self/clear_refs"), "5"); // the peak begins again
        long before = peak();
        assertThat(read(file).image().width()).isEqualTo(1024);
        assertThat(peak() - before).isLessThan(420_000);
    }

    /** Returns the peak of resident memory in KiB. */
    private static long peak() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    /** Begins a lossless WebP of a square with groups of prefix codes for 4×4 pixels. */
    private static int groups(BitSet bits, int side) {
        int at = bits(bits, bits(bits, 0, 0x2f, 8), (side - 1) << 14 | (side - 1), 32);
        at = bits(bits, at, 0b100, 3); // no transform, no colour cache, groups
        return bits(bits, at, 0, 4); // of 4×4 pixels, without a colour cache
    }

    private static byte[] webp(BitSet bits, int length) {
        byte[] stream = Arrays.copyOf(bits.toByteArray(), length / 8 + 9 & ~1);
        return ByteBuffer.allocate(20 + stream.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("RIFF".getBytes(US_ASCII))
                .putInt(12 + stream.length)
                .put("WEBPVP8L".getBytes(US_ASCII))
                .putInt(stream.length)
                .put(stream)
                .array();
    }

    private static int bits(BitSet bits, int at, int value, int count) {
        for (int i = 0; i < count; i++) {
            bits.set(at + i, (value >> i & 1) != 0);
        }
        return at + count;
    }
}
