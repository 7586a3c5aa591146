package org.gramian.image.vp8;

/** The partitions with coefficients, which the rows of macroblocks take turns in (RFC 6386, section 9.5). */
final class Partitions {
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
            throw Vp8Exception.truncated("expected the sizes of " + count + " partitions, found the end of the frame");
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
