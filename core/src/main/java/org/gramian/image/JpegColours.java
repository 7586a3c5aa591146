package org.gramian.image;

/**
 * Turns the components of a JPEG into RGB by the formulas of JFIF, leaving colour profiles aside.
 *
 * <pre>
 * R = Y + 1.402 (Cr − 128)
 * G = Y − 0.344136 (Cb − 128) − 0.714136 (Cr − 128)
 * B = Y + 1.772 (Cb − 128)
 * </pre>
 *
 * <p>Inks {@code c, m, y, k} between 0 and 1 give {@code R = (1−c)(1−k)} and so on.
 */
final class JpegColours {
    private static final int FRACTION_BITS = 16;
    private static final int RED_CR = fixed(1.402);
    private static final int GREEN_CB = fixed(0.344136);
    private static final int GREEN_CR = fixed(0.714136);
    private static final int BLUE_CB = fixed(1.772);

    /** More than a colour can be below zero or above 255: at most {@code 1.772·128}. */
    private static final int BELOW = 256;
    /** Half of one for rounding, and {@link #BELOW}, so that no place of the table is negative. */
    private static final int SHIFTED_HALF = (BELOW << FRACTION_BITS) + (1 << (FRACTION_BITS - 1));
    /** A look is cheaper than two comparisons. */
    private static final byte[] CLAMPED = clamped();

    private JpegColours() {}

    private static int fixed(double factor) {
        return (int) Math.round(factor * (1 << FRACTION_BITS));
    }

    /** RGB of the interleaved components of a whole image, in the same array where that has room. */
    static byte[] rgb(byte[] components, JpegHeader.Coding coding, boolean inverted) {
        return switch (coding) {
            case RGB -> components;
            case GRAY -> gray(components);
            case YCC -> {
                fromYcc(components, 3);
                yield components;
            }
            case CMYK -> inks(components, inverted);
            case YCCK -> {
                fromYcc(components, 4);
                for (int at = 0; at < components.length; at += 4) {
                    for (int ink = 0; ink < 3; ink++) {
                        components[at + ink] = (byte) ~components[at + ink];
                    }
                }
                yield inks(components, inverted);
            }
        };
    }

    private static byte[] gray(byte[] gray) {
        byte[] rgb = new byte[3 * gray.length];
        for (int i = 0, target = 0; i < gray.length; i++) {
            rgb[target++] = gray[i];
            rgb[target++] = gray[i];
            rgb[target++] = gray[i];
        }
        return rgb;
    }

    private static void fromYcc(byte[] values, int step) {
        byte[] clamped = CLAMPED; // fetched once: the compiler cannot know that the loop leaves it alone
        for (int at = 0; at < values.length; at += step) {
            int y = ((values[at] & 0xff) << FRACTION_BITS) + SHIFTED_HALF;
            int cb = (values[at + 1] & 0xff) - 128;
            int cr = (values[at + 2] & 0xff) - 128;
            values[at] = clamped[(y + RED_CR * cr) >> FRACTION_BITS];
            values[at + 1] = clamped[(y - GREEN_CB * cb - GREEN_CR * cr) >> FRACTION_BITS];
            values[at + 2] = clamped[(y + BLUE_CB * cb) >> FRACTION_BITS];
        }
    }

    /** What a whole number, moved up by {@link #BELOW}, becomes as a byte. */
    private static byte[] clamped() {
        byte[] bytes = new byte[3 * BELOW];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Math.clamp(i - BELOW, 0, 255);
        }
        return bytes;
    }

    private static byte[] inks(byte[] inks, boolean inverted) {
        byte[] rgb = new byte[inks.length / 4 * 3];
        int flip = inverted ? 0 : 0xff;
        for (int at = 0, target = 0; at < inks.length; at += 4) {
            int black = (inks[at + 3] ^ flip) & 0xff;
            for (int ink = 0; ink < 3; ink++) {
                rgb[target++] = (byte) ((((inks[at + ink] ^ flip) & 0xff) * black + 127) / 255);
            }
        }
        return rgb;
    }
}
