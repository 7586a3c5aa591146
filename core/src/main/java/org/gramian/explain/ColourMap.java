package org.gramian.explain;

/**
 * Colours of numbers from 0 to 1, blue over purple and orange to yellow: equal steps look equal, also in print without colours
 * and to people who do not tell red from green; little in photographs looks like them.
 *
 * <p>Ten colours of the map plasma (Smith and van der Walt, 2015, in the public domain), linear in between.
 */
final class ColourMap {
    private static final int[] COLOURS = {
        0x0d0887, 0x46039f, 0x7201a8, 0x9c179e, 0xbd3786, 0xd8576b, 0xed7953, 0xfb9f3a, 0xfdca26, 0xf0f921
    };

    private ColourMap() {}

    /** The colour {@code 0xRRGGBB} of a number; what lies outside counts as 0 or 1. */
    static int rgb(double number) {
        double place = Math.clamp(number, 0.0, 1.0) * (COLOURS.length - 1);
        int below = Math.min((int) place, COLOURS.length - 2);
        double part = place - below;
        int rgb = 0;
        for (int shift = 16; shift >= 0; shift -= 8) {
            int a = (COLOURS[below] >> shift) & 0xff;
            int b = (COLOURS[below + 1] >> shift) & 0xff;
            rgb |= (int) Math.round(a + part * (b - a)) << shift;
        }
        return rgb;
    }
}
