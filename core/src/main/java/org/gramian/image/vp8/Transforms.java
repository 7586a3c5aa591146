package org.gramian.image.vp8;

/** The inverse transforms, in whole numbers as the standard has them to the bit (RFC 6386, sections 14.3 and 14.4). */
final class Transforms {
    /** {@code √2·cos(π/8)} and {@code √2·sin(π/8)}, times 65,536. */
    private static final int COSINE = 85_627;

    private static final int SINE = 35_468;
    private static final int COUNT = TokenReader.COUNT;

    private final int[] columns = new int[COUNT];

    /** Turns the block of means, by an inverse Walsh–Hadamard transform, into the first coefficients of the blocks of luma. */
    static void spreadMeans(short[] coefficients, int means) {
        int[] half = new int[COUNT];
        for (int i = 0; i < 4; i++) {
            int at = means + i;
            int outer = coefficients[at] + coefficients[at + 12];
            int inner = coefficients[at + 4] + coefficients[at + 8];
            int innerDifference = coefficients[at + 4] - coefficients[at + 8];
            int outerDifference = coefficients[at] - coefficients[at + 12];
            half[i] = outer + inner;
            half[4 + i] = outerDifference + innerDifference;
            half[8 + i] = outer - inner;
            half[12 + i] = outerDifference - innerDifference;
        }
        for (int i = 0; i < COUNT; i += 4) {
            int rounded = half[i] + 3;
            int outer = rounded + half[i + 3];
            int inner = half[i + 1] + half[i + 2];
            int innerDifference = half[i + 1] - half[i + 2];
            int outerDifference = rounded - half[i + 3];
            int target = COUNT * i;
            coefficients[target] = (short) ((outer + inner) >> 3);
            coefficients[target + COUNT] = (short) ((outerDifference + innerDifference) >> 3);
            coefficients[target + 2 * COUNT] = (short) ((outer - inner) >> 3);
            coefficients[target + 3 * COUNT] = (short) ((outerDifference - innerDifference) >> 3);
        }
    }

    /** Adds the inverse cosine transform of a block to the samples from {@code target} on. */
    void add(short[] coefficients, int block, Plane plane, int target) {
        for (int i = 0; i < 4; i++) {
            int at = COUNT * block + i;
            int even = coefficients[at] + coefficients[at + 8];
            int evenDifference = coefficients[at] - coefficients[at + 8];
            int second = coefficients[at + 4];
            int fourth = coefficients[at + 12];
            int oddDifference = times(second, SINE) - times(fourth, COSINE);
            int odd = times(second, COSINE) + times(fourth, SINE);
            columns[i] = even + odd;
            columns[4 + i] = evenDifference + oddDifference;
            columns[8 + i] = evenDifference - oddDifference;
            columns[12 + i] = even - odd;
        }
        byte[] samples = plane.samples();
        int to = target;
        for (int i = 0; i < COUNT; i += 4) {
            int rounded = columns[i] + 4;
            int even = rounded + columns[i + 2];
            int evenDifference = rounded - columns[i + 2];
            int oddDifference = times(columns[i + 1], SINE) - times(columns[i + 3], COSINE);
            int odd = times(columns[i + 1], COSINE) + times(columns[i + 3], SINE);
            increase(samples, to, (even + odd) >> 3);
            increase(samples, to + 1, (evenDifference + oddDifference) >> 3);
            increase(samples, to + 2, (evenDifference - oddDifference) >> 3);
            increase(samples, to + 3, (even - odd) >> 3);
            to += plane.stride();
        }
    }

    /** Adds the inverse transform of a block with no coefficient but the first. */
    static void addFirst(int coefficient, Plane plane, int target) {
        int value = (coefficient + 4) >> 3;
        int to = target;
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 4; x++) {
                increase(plane.samples(), to + x, value);
            }
            to += plane.stride();
        }
    }

    private static int times(int value, int factor) {
        return (value * factor) >> 16;
    }

    private static void increase(byte[] samples, int at, int change) {
        samples[at] = (byte) Plane.clamp((samples[at] & 0xff) + change);
    }
}
