package org.gramian.image.vp8;

/**
 * The ten bytes that a key frame begins with (RFC 6386, section 9.1).
 *
 * @param firstPartition bytes of the first partition, which follows
 * @param width columns
 * @param height rows
 */
record FrameTag(int firstPartition, int width, int height) {
    static final int BYTES = 10;

    private static final int START_CODE = 0x2a019d;
    private static final int MOST_PROFILE = 3;

    static FrameTag read(byte[] data, int from, int to) throws Vp8Exception {
        if (to - from < BYTES) {
            throw Vp8Exception.truncated("expected a frame of at least " + BYTES + " bytes, found " + (to - from));
        }
        int tag = u24(data, from);
        if ((tag & 1) != 0) {
            throw Vp8Exception.corrupt("expected a key frame, found an inter frame");
        }
        int profile = tag >> 1 & 7;
        if (profile > MOST_PROFILE) {
            throw Vp8Exception.corrupt("expected a profile of VP8 from 0 to " + MOST_PROFILE + ", found " + profile);
        }
        if ((tag >> 4 & 1) == 0) {
            throw Vp8Exception.corrupt("expected a visible frame, found a hidden one");
        }
        int code = u24(data, from + 3);
        if (code != START_CODE) {
            throw Vp8Exception.corrupt("expected the start code of a key frame, found 0x%06x".formatted(code));
        }
        // The two bits above the size ask for scaling on display, which concerns no decoder.
        int width = u24(data, from + 6) & 0x3fff;
        int height = u24(data, from + 7) >> 8 & 0x3fff;
        if (width == 0 || height == 0) {
            throw Vp8Exception.corrupt("expected at least one pixel, found " + width + "×" + height);
        }
        int first = tag >> 5;
        if (first > to - from - BYTES) {
            throw Vp8Exception.truncated(
                    "expected a first partition of " + first + " bytes, found " + (to - from - BYTES));
        }
        return new FrameTag(first, width, height);
    }

    /** Columns of macroblocks. */
    int columns() {
        return Math.ceilDiv(width, Macroblock.SIDE);
    }

    /** Rows of macroblocks. */
    int rows() {
        return Math.ceilDiv(height, Macroblock.SIDE);
    }

    static int u24(byte[] data, int at) {
        return (data[at] & 0xff) | (data[at + 1] & 0xff) << 8 | (data[at + 2] & 0xff) << 16;
    }
}
