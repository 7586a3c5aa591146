package org.gramian.image.vp8;

/**
 * The boolean entropy decoder: reads arithmetically coded bits, each with its own probability (RFC 6386, section 7).
 *
 * <p>Past the end of the data it returns zeros and sets {@link #isExhausted}: the frame is truncated.
 */
final class BoolDecoder {
    private static final int HALF = 128;

    /** With at most this many bits ahead another byte fits in a long. */
    private static final int MAX_AHEAD = 47;

    private final byte[] data;
    private final int end;
    private int position;

    /** The eight bits being decoded, above {@link #ahead} more. */
    private long value;

    private int ahead = -8;
    private int range = 255;
    private boolean exhausted;

    BoolDecoder(byte[] data, int from, int to) {
        this.data = data;
        this.position = from;
        this.end = to;
    }

    /** Returns whether a bit past the end of the data was read. */
    boolean isExhausted() {
        return exhausted;
    }

    /** Reads a bit that is zero with a probability of {@code probability/256}. */
    int bit(int probability) {
        if (ahead < 0) {
            fill();
        }
        int split = 1 + (((range - 1) * probability) >> 8);
        long threshold = (long) split << ahead;
        int bit;
        int rest;
        if (value >= threshold) {
            value -= threshold;
            rest = range - split;
            bit = 1;
        } else {
            rest = split;
            bit = 0;
        }
        int shift = Integer.numberOfLeadingZeros(rest) - 24;
        range = rest << shift;
        ahead -= shift;
        return bit;
    }

    private void fill() {
        if (position == end) {
            exhausted = true;
            value <<= 8;
            ahead += 8;
            return;
        }
        while (ahead < MAX_AHEAD && position < end) {
            value = value << 8 | (data[position++] & 0xff);
            ahead += 8;
        }
    }

    boolean flag() {
        return bit(HALF) != 0;
    }

    /** Reads an unsigned integer, the highest bit first. */
    int number(int bits) {
        int number = 0;
        for (int i = 0; i < bits; i++) {
            number = number << 1 | bit(HALF);
        }
        return number;
    }

    /** Reads a flag and, if it is set, a magnitude and its sign; returns 0 otherwise. */
    int optional(int bits) {
        if (!flag()) {
            return 0;
        }
        int magnitude = number(bits);
        return flag() ? -magnitude : magnitude;
    }
}
