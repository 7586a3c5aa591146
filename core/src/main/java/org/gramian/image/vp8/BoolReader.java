package org.gramian.image.vp8;

/**
 * Reads bits that were coded arithmetically, each with a probability of its own (RFC 6386, section 7).
 *
 * <p>Beyond the end of the data it goes on with zeros, and remembers it: a frame whose last bits are such zeros is truncated.
 */
final class BoolReader {
    private static final int HALF = 128;

    /** With this many bits ahead another byte still fits in a long. */
    private static final int ROOM = 47;

    private final byte[] data;
    private final int end;
    private int position;

    /** The eight bits to decide by, above {@link #ahead} more. */
    private long value;

    private int ahead = -8;
    private int range = 255;
    private boolean exhausted;

    BoolReader(byte[] data, int from, int to) {
        this.data = data;
        this.position = from;
        this.end = to;
    }

    /** Returns whether a bit was read that depends on more data than there is. */
    boolean isExhausted() {
        return exhausted;
    }

    /** A bit that is zero with a probability of {@code probability/256}. */
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
        while (ahead < ROOM && position < end) {
            value = value << 8 | (data[position++] & 0xff);
            ahead += 8;
        }
    }

    boolean flag() {
        return bit(HALF) != 0;
    }

    /** A number of so many bits, the highest first. */
    int number(int bits) {
        int number = 0;
        for (int i = 0; i < bits; i++) {
            number = number << 1 | bit(HALF);
        }
        return number;
    }

    /** A number of so many bits, and then its sign. */
    int signed(int bits) {
        int number = number(bits);
        return flag() ? -number : number;
    }

    /** A flag, and if it is set a signed number; zero otherwise. */
    int optional(int bits) {
        return flag() ? signed(bits) : 0;
    }
}
