package org.gramian.image.crop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.QuotedText;

/**
 * The crops to take from every image, written {@code NAME[:SIZE][+flips][+box]}.
 *
 * <table>
 * <caption>The plans</caption>
 * <tr><th>name</th><th>training</th><th>testing</th></tr>
 * <tr><td>{@code paper}</td><td>centre, four corners, ten at random</td><td>centre, four corners</td></tr>
 * <tr><td>{@code center}</td><td>centre</td><td>centre</td></tr>
 * <tr><td>{@code ten}</td><td>centre, four corners, the same mirrored</td><td>the same</td></tr>
 * <tr><td>{@code resize}</td><td>the whole image, its aspect not kept</td><td>the same</td></tr>
 * </table>
 *
 * <p>Crops are squares of {@code SIZE} pixels, {@value #DEFAULT_SIZE} unless given; {@code +flips} adds each one mirrored; with
 * {@code +box} an image is first cut to the bounding box of its object, which the dataset must have (as CUB-200-2011).
 *
 * <p><b>Where crops are cut.</b> The paper says only how many crops there are and that they end as 224×224. Here an image
 * is first scaled so that its short side is {@code 256·SIZE/224}, rounded, the usual margin of networks trained at 224 (a
 * smaller image is enlarged), and windows of {@code SIZE×SIZE} are cut from it, at full resolution. {@code resize} is
 * the paper's protocol for fine-grained images.
 *
 * @param kind which crops
 * @param size side of the crops in pixels
 * @param flips whether each crop is also taken mirrored
 * @param boxed whether crops are taken from the bounding box of the object
 * @since 0.1
 */
public record CropPlan(Kind kind, int size, boolean flips, boolean boxed) {
    /** Training resolution of the backbones. */
    public static final int DEFAULT_SIZE = 224;

    private static final int LARGEST = 4096;
    private static final String FLIPS = "+flips";
    private static final String BOX = "+box";
    private static final String FORM = "NAME[:SIZE][" + FLIPS + "][" + BOX + "]";

    /** Kinds of plans. */
    public enum Kind {
        /** 15 training crops and 5 test crops, for textures. */
        PAPER,
        /** One crop from the middle. */
        CENTER,
        /** Five crops and their mirror images. */
        TEN,
        /** The whole image, made square. */
        RESIZE;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** @throws IllegalArgumentException if the size is out of bounds or crops would be mirrored twice */
    public CropPlan {
        if (size < 1 || size > LARGEST) {
            throw new IllegalArgumentException("expected a crop size from 1 to " + LARGEST + " pixels, found " + size);
        }
        if (kind == Kind.TEN && flips) {
            throw new IllegalArgumentException("the crops 'ten' are mirrored already: remove '" + FLIPS + "'");
        }
    }

    /** Creates a plan for whole images. */
    public CropPlan(Kind kind, int size, boolean flips) {
        this(kind, size, flips, false);
    }

    /**
     * Reads {@code NAME[:SIZE][+flips][+box]}.
     *
     * @throws IllegalArgumentException for anything else; the message lists the names
     */
    public static CropPlan parse(String text) {
        List<String> parts = List.of(text.strip().split("(?=\\+)"));
        List<String> forms = names().stream().map(name -> name + "[:SIZE]").toList();
        NamedArguments crops = NamedArguments.parse("crops", parts.getFirst(), forms);
        List<String> flags = parts.subList(1, parts.size());
        if (!List.of(FLIPS, BOX).containsAll(flags) || Set.copyOf(flags).size() < flags.size()) {
            throw new IllegalArgumentException("expected crops as " + FORM + ", found " + QuotedText.text(text));
        }
        Kind kind = Kind.values()[names().indexOf(crops.name())];
        CropPlan plan =
                new CropPlan(kind, crops.count("size", DEFAULT_SIZE), flags.contains(FLIPS), flags.contains(BOX));
        crops.requireAllUsed();
        return plan;
    }

    /** Returns the names of all plans. */
    public static List<String> names() {
        return Arrays.stream(Kind.values()).map(Kind::word).toList();
    }

    /** Returns the form that {@link #parse} reads, always with the size. */
    public String text() {
        return kind.word() + ":" + size + (flips ? FLIPS : "") + (boxed ? BOX : "");
    }

    /** Returns the plan with another crop size. */
    public CropPlan withSize(int pixels) {
        return new CropPlan(kind, pixels, flips, boxed);
    }

    /** Returns the plan for whole images. */
    public CropPlan whole() {
        return new CropPlan(kind, size, flips, false);
    }

    /** Returns the test crops. */
    public Crops testing() {
        return crops(false, 0);
    }

    /** Returns the training crops; random ones depend on the seed. */
    public Crops training(long seed) {
        return crops(true, seed);
    }

    private Crops crops(boolean training, long seed) {
        List<Spot> spots = new ArrayList<>();
        switch (kind) {
            case CENTER, RESIZE -> spots.add(Spot.CENTER);
            case TEN -> spots.addAll(Spot.FIVE);
            case PAPER -> {
                spots.addAll(Spot.FIVE);
                if (training) {
                    spots.addAll(Spot.random(10));
                }
            }
        }
        if (flips || kind == Kind.TEN) {
            spots = Stream.concat(spots.stream(), spots.stream().map(Spot::flipped))
                    .toList();
        }
        return new Crops(this, spots, seed);
    }

    @Override
    public String toString() {
        return text();
    }

    /**
     * Position of a crop, relative to the image.
     *
     * @param name for keys and messages
     * @param across 0 at the left, 2 at the right
     * @param down 0 at the top, 2 at the bottom
     * @param drawn whether the position is random instead
     * @param mirrored whether the crop is flipped horizontally
     */
    record Spot(String name, int across, int down, boolean drawn, boolean mirrored) {
        static final Spot CENTER = fixed("center", 1, 1);

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
}
