package org.gramian.explain;

import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.model.ModelCard;

/**
 * What a model sees of an image: all that explaining a score of it later needs. The image itself, which may be very large,
 * can be forgotten meanwhile.
 */
public final class CroppedImage {
    private final CropPixels pixels;
    private final CropMosaic mosaic;

    private CroppedImage(CropPixels pixels, CropMosaic mosaic) {
        this.pixels = pixels;
        this.mosaic = mosaic;
    }

    /**
     * Of an image, by the card's test crops of the whole of it.
     *
     * @throws IllegalArgumentException if no crops can be taken of such an image
     */
    public static CroppedImage of(Image image, ModelCard card) {
        List<Crop> windows = card.crops().whole().testing().of(image.width(), image.height(), "");
        return new CroppedImage(
                CropPixels.of(image, windows, card.preprocessing()),
                CropMosaic.of(image.width(), image.height(), windows));
    }

    CropPixels pixels() {
        return pixels;
    }

    CropMosaic mosaic() {
        return mosaic;
    }

    /** About how much memory it takes. */
    public long bytes() {
        return pixels.scaled().rgb().length;
    }
}
