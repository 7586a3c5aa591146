package org.gramian.image.crop;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.gramian.basis.Sha256;
import org.gramian.image.Image;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.CropPlan.Spot;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.Sample.Box;

/**
 * The crops of images under a {@link CropPlan}, for training or testing; the same number for every image.
 *
 * <p>The order is centre, top left, top right, bottom left, bottom right, random; then all of these mirrored, if requested. A
 * random crop depends on the seed, the name and the size of the image only; a mirrored one has the position of its original.
 *
 * @since 0.1
 */
public final class Crops {
    /** Largest aspect ratio: 256 rows then have 8,192 columns. */
    public static final int MAX_ASPECT = 32;

    private final CropPlan plan;

    private final List<Spot> spots;
    private final long seed;

    Crops(CropPlan plan, List<Spot> spots, long seed) {
        this.plan = plan;

        this.spots = List.copyOf(spots);
        this.seed = seed;
    }

    /** Returns the first crop only, with the same key. */
    public Crops first() {
        return new Crops(plan, List.of(spots.getFirst()), seed);
    }

    /** Returns the number of crops of an image. */
    public int count() {
        return spots.size();
    }

    /** Returns the columns and rows of every crop. */
    public int size() {
        return plan.size();
    }

    /** Returns whether crops keep the aspect ratio; if not, the whole image is resized to a square. */
    public boolean aspectKept() {
        return plan.kind() != CropPlan.Kind.RESIZE;
    }

    /** Returns the image or its bounding box, which crops are taken from, or the reason why none can be taken. */
    public ReadResult validate(ReadResult reading, Optional<Box> object) {
        if (!(reading instanceof ReadResult.Readable(Image image, ImageInfo origin))) {
            return reading;
        }
        Optional<Image> region = plan.boxed() ? object.flatMap(box -> within(image, box)) : Optional.of(image);
        if (region.isEmpty()) {
            String box = object.map(Box::toString).orElse("none");
            return new ReadResult.Unreadable(
                    ReadResult.Problem.NO_BOX,
                    "expected a box inside the image of " + image + " for crops +box, found " + box);
        }
        return incompatibility(region.get().width(), region.get().height())
                .<ReadResult>map(reason -> new ReadResult.Unreadable(ReadResult.Problem.TOO_THIN, reason))
                .orElse(new ReadResult.Readable(region.get(), origin));
    }

    /** Returns every pixel that the box touches. */
    private static Optional<Image> within(Image image, Box box) {
        int left = (int) Math.floor(box.x());
        int top = (int) Math.floor(box.y());
        int right = (int) Math.min(image.width(), Math.ceil(box.x() + box.width()));
        int bottom = (int) Math.min(image.height(), Math.ceil(box.y() + box.height()));
        return left < right && top < bottom
                ? Optional.of(image.crop(left, top, right - left, bottom - top))
                : Optional.empty();
    }

    private int shortSide() {
        return Math.toIntExact(Math.round(256.0 * size() / CropPlan.DEFAULT_SIZE));
    }

    /**
     * Returns the crops of an image or region of the given size.
     *
     * @param name the image's name in its dataset; random crops depend on it
     * @throws IllegalArgumentException with the {@link #incompatibility}, if there is one
     */
    public List<Crop> of(int width, int height, String name) {
        incompatibility(width, height).ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
        int scaledWidth = scaled(width, height);
        int scaledHeight = scaled(height, width);
        int across = scaledWidth - size();
        int down = scaledHeight - size();
        RandomGenerator random = random(name);
        Map<String, Crop> drawn = new HashMap<>(); // a mirrored crop has the position of its original
        List<Crop> crops = new ArrayList<>();
        for (Spot spot : spots) {
            int left = across * spot.across() / 2;
            int top = down * spot.down() / 2;
            if (spot.drawn()) {
                Crop place = drawn.computeIfAbsent(spot.name(), _ -> {
                    int x = random.nextInt(across + 1);
                    return new Crop(scaledWidth, scaledHeight, x, random.nextInt(down + 1), size(), false);
                });
                left = place.left();
                top = place.top();
            }
            crops.add(new Crop(scaledWidth, scaledHeight, left, top, size(), spot.mirrored()));
        }
        return crops;
    }

    private int scaled(int side, int other) {
        if (!aspectKept()) {
            return size();
        }
        return side <= other ? shortSide() : Math.toIntExact(Math.round((double) shortSide() * side / other));
    }

    /** Returns whether the aspect ratio of an image exceeds {@link #MAX_ASPECT}. */
    public static boolean tooThin(int width, int height) {
        return Math.max(width, height) > (long) MAX_ASPECT * Math.min(width, height);
    }

    /** Returns why no crops can be taken from an image of this size; empty if they can. */
    public Optional<String> incompatibility(int width, int height) {
        if (width < 1 || height < 1) {
            return Optional.of("expected an image of at least one pixel, found " + width + "×" + height);
        }
        if (aspectKept() && tooThin(width, height)) {
            return Optional.of("crops that keep the aspect ratio need an image at most " + MAX_ASPECT
                    + " times as long as wide, found " + width + "×" + height
                    + "; cut the image into pieces, or train with the crops 'resize'");
        }
        return Optional.empty();
    }

    /** Returns a key of a crop: equal keys of equal images mean equal pixels, for any plan. */
    public String key(int index, Sample sample) {
        Spot spot = spots.get(index);
        String place = (aspectKept() ? "short side " + shortSide() + ", " : "whole, ") + label(index) + " " + size()
                + (plan.boxed() ? ", in " + sample.box().map(Box::toString).orElse("no box") : "");
        return spot.drawn() ? place + ", seed " + seed + ", of " + sample.name() : place;
    }

    /** Returns the name of a crop, as {@code center} or {@code random3 mirrored}. */
    public String label(int index) {
        Spot spot = spots.get(index);
        return spot.name() + (spot.mirrored() ? " mirrored" : "");
    }

    /** Returns a generator for one image; hashed, so that similar names and seeds give unrelated crops. */
    private RandomGenerator random(String name) {
        MessageDigest digest = Sha256.digest();
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, seed).array());
        byte[] hash = digest.digest(name.getBytes(StandardCharsets.UTF_8));
        return new SplittableRandom(ByteBuffer.wrap(hash).getLong());
    }
}
