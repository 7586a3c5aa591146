package org.gramian.image.vp8;

import org.gramian.image.vp8.Reconstruction.Place;

/**
 * Decodes key frames of VP8, which is what a lossy WebP holds, to the bit as the reference library libwebp does by default.
 *
 * <p>Memory: about 4.5 bytes per pixel, 3 of them the result. Time grows with pixels and bytes, whatever their values.
 *
 * <p>Reference: RFC 6386, VP8 Data Format and Decoding Guide.
 */
public final class Vp8 {
    private final FrameTag tag;
    private final BoolReader bits;
    private final FrameHeader header;
    private final Partitions partitions;

    private Vp8(byte[] data, int from, int to) throws Vp8Exception {
        tag = FrameTag.read(data, from, to);
        int first = from + FrameTag.BYTES;
        int second = first + tag.firstPartition();
        bits = new BoolReader(data, first, second);
        header = FrameHeader.read(bits);
        partitions = new Partitions(data, second, to, header.partitions());
    }

    /**
     * Decodes the frame in a part of an array, which is left as it is.
     *
     * <p>The size of the frame decides how much memory is taken. Callers check the size of untrusted data first: width and height, of 14
     * bits each, are in the two little-endian numbers of 16 bits at bytes 6 and 8 of the frame.
     *
     * @param from the first byte
     * @param to before the last byte
     * @throws Vp8Exception if there is no whole key frame
     */
    public static Frame decode(byte[] data, int from, int to) throws Vp8Exception {
        return new Vp8(data, from, to).frame();
    }

    private Frame frame() throws Vp8Exception {
        ModeReader modes = new ModeReader(bits, header, tag.columns());
        Residuals residuals = new Residuals(header, partitions.ofRow(0), tag.columns());
        Reconstruction planes = new Reconstruction(tag);
        LoopFilter filter = new LoopFilter(header, tag);
        Macroblock block = new Macroblock();
        for (int row = 0; row < tag.rows(); row++) {
            BoolReader tokens = partitions.ofRow(row);
            modes.startRow();
            residuals.startRow(tokens);
            for (int column = 0; column < tag.columns(); column++) {
                modes.read(block, column);
                boolean added = residuals.read(block, column);
                planes.put(block, new Place(column, row), residuals, added);
                filter.note(block, added, column, row);
            }
            if (bits.isExhausted() || tokens.isExhausted()) {
                throw Vp8Exception.truncated("expected " + tag.rows()
                        + " rows of macroblocks, found the end of the data in row " + (row + 1));
            }
        }
        filter.apply(planes.luma(), planes.chroma());
        byte[] rgb = new Colours(tag, planes.luma(), planes.chroma()).rgb();
        return new Frame(tag.width(), tag.height(), rgb);
    }

    /** The partitions with coefficients, which the rows of macroblocks take turns in (RFC 6386, section 9.5). */
    private static final class Partitions {
        private static final int SIZE_BYTES = 3;

        private final BoolReader[] readers;

        /**
         * @param from where their sizes begin
         * @param to where the last of them ends
         */
        Partitions(byte[] data, int from, int to, int count) throws Vp8Exception {
            readers = new BoolReader[count];
            int start = from + SIZE_BYTES * (count - 1);
            if (start > to) {
                throw Vp8Exception.truncated(
                        "expected the sizes of " + count + " partitions, found the end of the frame");
            }
            for (int i = 0; i < count; i++) {
                // The last goes on to the end.
                int size = i < count - 1 ? FrameTag.u24(data, from + SIZE_BYTES * i) : to - start;
                if (size > to - start) {
                    throw Vp8Exception.truncated("expected a partition of " + size + " bytes, found " + (to - start));
                }
                readers[i] = new BoolReader(data, start, start + size);
                start += size;
            }
        }

        /** Where the coefficients of a row of macroblocks are. */
        BoolReader ofRow(int row) {
            return readers[row & (readers.length - 1)];
        }
    }
}
