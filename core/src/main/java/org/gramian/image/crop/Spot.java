package org.gramian.image.crop;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Where a crop lies, whatever the size of the image.
 *
 * @param name for keys and messages
 * @param across 0 at the left, 2 at the right
 * @param down 0 at the top, 2 at the bottom
 * @param drawn whether the place is drawn at random instead
 * @param mirrored whether left and right are exchanged
 */
record Spot(String name, int across, int down, boolean drawn, boolean mirrored) {
    static final Spot CENTER = fixed("center", 1, 1);

    /** Centre and corners. */
    static final List<Spot> FIVE = List.of(
            CENTER,
            fixed("top-left", 0, 0),
            fixed("top-right", 2, 0),
            fixed("bottom-left", 0, 2),
            fixed("bottom-right", 2, 2));

    private static Spot fixed(String name, int across, int down) {
        return new Spot(name, across, down, false, false);
    }

    static List<Spot> random(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Spot("random" + i, 0, 0, true, false))
                .toList();
    }

    Spot flipped() {
        return new Spot(name, across, down, drawn, !mirrored);
    }
}
