package org.gramian.image;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Images that take much time or memory for their size, in bytes or pixels. */
public final class HostileImages {
    private HostileImages() {}

    /** The format of a file, by its first bytes. */
    public static Optional<ImageFormat> format(byte[] file) {
        return ImageFormat.of(file);
    }

    /** About 200 files of all formats: tiny and huge sides with little, much or empty data. */
    public static List<byte[]> crafted() {
        List<byte[]> files = new ArrayList<>();
        for (int side : new int[] {8, 500, 2000, 5000}) {
            for (int bytes : new int[] {1000, 300_000, 4_000_000}) {
                for (int bits : new int[] {2, 8}) {
                    files.add(gif(side, bits, 1 << bits, bytes));
                    files.add(gif(side, bits, 0, bytes));
                }
                for (int compression : new int[] {1, 2, 3, 4, 5, 8, 32_773}) {
                    files.add(tiff(side, compression, compression == 8 ? emptyBlocks(bytes) : new byte[bytes]));
                }
                files.add(bmp(side, 8, 1, bytes));
                files.add(bmp(side, 24, 0, bytes));
            }
            for (int type : new int[] {0, 2, 3, 4, 6}) {
                files.add(png(side, type).chunk("IEND").content());
            }
            files.add(png(side, 0)
                    .chunk("zTXt", PngFile.deflated(new byte[30_000_000]))
                    .chunk("IEND")
                    .content());
            files.add(PngFile.of(side, side, 8, 2)
                    .chunk("IDAT", emptyBlocks(4_000_000))
                    .chunk("IEND")
                    .content());
            for (int scans : new int[] {0, 100, 1900}) {
                files.add(jpeg(side, side, scans));
            }
        }
        for (int side : new int[] {16, 168, 256, 512, 1024}) {
            files.add(webpOfUnusedGroups(side));
            files.add(webpOfGroups(side));
        }
        files.add(HexFormat.of() // 7000×7000 pixels of one colour
                .parseHex("5249464622000000574542505650384c160000002f57dbd5062859cb6ad6b30200000000000000000000"));
        return files;
    }

    /** A PNG of zeros, which compress by 1,000. */
    private static PngFile png(int side, int type) {
        int channels = new int[] {1, 0, 3, 1, 2, 0, 4}[type];
        PngFile file = PngFile.of(side, side, 8, type);
        return (type == 3 ? file.chunk("PLTE", new byte[3]) : file)
                .chunk("IDAT", PngFile.deflated(new byte[side * (side * channels + 1)]));
    }

    private static byte[] bmp(int side, int bits, int compression, int bytes) {
        return ByteBuffer.allocate(54 + 1024 + bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("BM".getBytes(US_ASCII))
                .putInt(54 + 1024 + bytes)
                .putInt(0)
                .putInt(54 + 1024)
                .putInt(40)
                .putInt(side)
                .putInt(side)
                .putShort((short) 1)
                .putShort((short) bits)
                .putInt(compression)
                .putInt(bytes)
                .array();
    }

    /** A progressive JPEG of one colour whose last scan is repeated: each takes a walk over all coefficients. */
    static byte[] jpeg(int width, int height, int scans) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ImageWriteParam progressive = writer.getDefaultWriteParam();
        progressive.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(out);
            BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_GRAY);
            writer.write(null, new IIOImage(image, null, null), progressive);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            writer.dispose();
        }
        byte[] file = bytes.toByteArray();
        int end = file.length - 2;
        int last = end;
        while (file[last] != (byte) 0xff || file[last + 1] != (byte) 0xda) {
            last--;
        }
        ByteBuffer out = ByteBuffer.allocate(file.length + scans * (end - last)).put(file, 0, end);
        for (int i = 0; i < scans; i++) {
            out.put(file, last, end - last);
        }
        return out.put(file, end, 2).array();
    }

    /** A GIF of some pixels whose data repeat a code of {@code size + 1} bits. */
    static byte[] gif(int side, int size, int code, int bytes) {
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

    static byte[] tiff(int side, int compression, byte[] data) {
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

    /** Returns a zlib stream of stored blocks without bytes. */
    static byte[] emptyBlocks(int bytes) {
        byte[] data = new byte[bytes];
        data[0] = 0x78;
        data[1] = 0x01;
        for (int i = 2; i + 5 <= bytes; i += 5) {
            data[i + 3] = -1;
            data[i + 4] = -1;
        }
        return data;
    }

    /** 65,536 groups of prefix codes, of which a few pixels use one. */
    static byte[] webpOfUnusedGroups(int side) {
        BitSet bits = new BitSet();
        int at = groups(bits, side);
        for (int symbol : new int[] {255, 255, 0, 0, 0}) { // each group is number 65,535
            at = bits(bits, bits(bits, at, 0b101, 3), symbol, 8);
        }
        for (int i = 0; i < 5 * 65_536; i++) {
            at = bits(bits, at, 1, 4);
        }
        return webp(bits, at);
    }

    /** Groups of prefix codes, each used by 16 pixels: the most memory that groups can take. */
    static byte[] webpOfGroups(int side) {
        BitSet bits = new BitSet();
        int at = groups(bits, side);
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
        int groups = side / 4 * (side / 4);
        for (int group = 0; group < groups; group++) {
            at = bits(bits, at, group, 16);
        }
        for (int i = 0; i < 5 * groups; i++) {
            at = bits(bits, at, 1, 4);
        }
        return webp(bits, at);
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
