package org.gramian.image.vp8;

import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * Decodes VP8 key frames, the content of a lossy WebP, bit-identical to libwebp's default.
 *
 * <p>Memory: about 4.5 bytes per pixel, 3 of them the result. Time is linear in pixels and bytes for any content.
 *
 * <p>Reference: RFC 6386, VP8 Data Format and Decoding Guide.
 */
public final class Vp8Decoder {
    private static final int SIZE_BYTES = 3;

    private Vp8Decoder() {}

    /**
     * A decoded frame.
     *
     * @param rgb red, green and blue of each pixel, row by row, {@code 3·width·height} bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    public record Frame(int width, int height, byte[] rgb) {}

    /**
     * Decodes the frame in a part of an array.
     *
     * <p>Memory depends on the size in the frame's header. For untrusted data check it first: width and height are the low 14 bits
     * of the little-endian 16-bit numbers at bytes 6 and 8.
     *
     * @param from first byte, inclusive
     * @param to last byte, exclusive
     * @throws Vp8Exception if there is no whole key frame
     */
    public static Frame decode(byte[] data, int from, int to) throws Vp8Exception {
        return decode(data, from, to, () -> false);
    }

    /**
     * Decodes the frame in a part of an array, as {@link #decode(byte[], int, int)}, until it is cancelled.
     *
     * @param cancelled whether to stop; called once for each row of macroblocks
     * @throws Vp8Exception if there is no whole key frame
     * @throws CancellationException if cancelled
     */
    public static Frame decode(byte[] data, int from, int to, BooleanSupplier cancelled) throws Vp8Exception {
        FrameHeader.Tag tag = FrameHeader.Tag.read(data, from, to);
        int first = from + FrameHeader.Tag.BYTES;
        int second = first + tag.firstPartition();
        BoolDecoder bits = new BoolDecoder(data, first, second);
        FrameHeader header = FrameHeader.read(bits);
        BoolDecoder[] partitions = partitions(data, second, to, header.partitions());
        Macroblock.Reader macroblocks = new Macroblock.Reader(bits, header, tag.columns());
        Residuals residuals = new Residuals(header, partitions[0], tag.columns());
        Reconstruction planes = new Reconstruction(tag, residuals);
        LoopFilter filter = new LoopFilter(header, tag);
        Macroblock block = new Macroblock();
        for (int row = 0; row < tag.rows(); row++) {
            if (cancelled.getAsBoolean()) {
                throw new CancellationException("decoding was cancelled in row " + (row + 1) + " of " + tag.rows());
            }
            BoolDecoder tokens = partitions[row % partitions.length];
            macroblocks.startRow();
            residuals.startRow(tokens);
            for (int column = 0; column < tag.columns(); column++) {
                macroblocks.read(block, column);
                boolean hasCoefficients = residuals.read(block, column);
                planes.put(block, column, row, hasCoefficients);
                filter.record(block, hasCoefficients, column, row);
            }
            if (bits.isExhausted() || tokens.isExhausted()) {
                throw Vp8Exception.truncated("expected " + tag.rows()
                        + " rows of macroblocks, found the end of the data in row " + (row + 1));
            }
        }
        filter.apply(planes.luma(), planes.chroma());
        byte[] rgb =
                new YuvToRgb(tag.width(), tag.height()).convert(planes.luma(), planes.chroma()[0], planes.chroma()[1]);
        return new Frame(tag.width(), tag.height(), rgb);
    }

    /**
     * Opens the partitions with coefficients, which the rows of macroblocks use in turn (RFC 6386, section 9.5).
     *
     * @param from start of the table of their sizes
     */
    private static BoolDecoder[] partitions(byte[] data, int from, int to, int count) throws Vp8Exception {
        BoolDecoder[] partitions = new BoolDecoder[count];
        int start = from + SIZE_BYTES * (count - 1);
        if (start > to) {
            throw Vp8Exception.truncated("expected the sizes of " + count + " partitions, found the end of the frame");
        }
        for (int i = 0; i < count; i++) {
            // The last partition extends to the end.
            int size = i < count - 1 ? FrameHeader.Tag.u24(data, from + SIZE_BYTES * i) : to - start;
            if (size > to - start) {
                throw Vp8Exception.truncated("expected a partition of " + size + " bytes, found " + (to - start));
            }
            partitions[i] = new BoolDecoder(data, start, start + size);
            start += size;
        }
        return partitions;
    }
}
