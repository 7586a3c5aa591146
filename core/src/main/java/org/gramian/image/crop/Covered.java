package org.gramian.image.crop;

import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.Resize;

/**
 * The scaled part of an image that some crops cover: for a centre crop 57 % of a scaled 4:3 image.
 *
 * @param part the scaled part
 * @param crops the crops as windows of that part
 */
public record Covered(Image part, List<Crop> crops) {
    public Covered {
        crops = List.copyOf(crops);
    }

    /**
     * Scales the covered part; every crop has the same pixels as in {@link Crop#scale}.
     *
     * @param crops at least one, all with the same image size
     */
    public static Covered of(Image image, List<Crop> crops) {
        Crop first = crops.getFirst();
        if (first.fits(image)) {
            return new Covered(image, crops);
        }
        int left = crops.stream().mapToInt(Crop::left).min().orElseThrow();
        int top = crops.stream().mapToInt(Crop::top).min().orElseThrow();
        int width =
                crops.stream().mapToInt(crop -> crop.left() + crop.size()).max().orElseThrow() - left;
        int height =
                crops.stream().mapToInt(crop -> crop.top() + crop.size()).max().orElseThrow() - top;
        Image part = Resize.part(image, first.width(), first.height(), new Resize.Window(left, top, width, height));
        return new Covered(
                part,
                crops.stream()
                        .map(crop -> new Crop(
                                width, height, crop.left() - left, crop.top() - top, crop.size(), crop.mirrored()))
                        .toList());
    }
}
