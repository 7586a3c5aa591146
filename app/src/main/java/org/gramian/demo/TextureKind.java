package org.gramian.demo;

import java.util.Locale;
import java.util.SplittableRandom;

/** The classes of the demo's images. */
public enum TextureKind {
    BRICKS,
    CELLS,
    CHECKS,
    DOTS,
    HATCHING,
    MARBLE,
    SCALES,
    STRIPES,
    WEAVE,
    WOOD;

    /** The name of the class, and of its folder. */
    public String folder() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A pattern of this kind with random proportions. */
    public Pattern pattern(SplittableRandom random) {
        return switch (this) {
            case BRICKS -> Lattices.bricks(random);
            case CELLS -> Cells.of(random);
            case CHECKS -> Lattices.checks(random);
            case DOTS -> Lattices.dots(random);
            case HATCHING -> Lattices.hatching(random);
            case MARBLE -> Veins.marble(random);
            case SCALES -> Lattices.scales(random);
            case STRIPES -> Lattices.stripes(random);
            case WEAVE -> Lattices.weave(random);
            case WOOD -> Veins.wood(random);
        };
    }
}
