package org.gramian.explain;

import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.model.ModelCard;

/** Test crops of an image: all that explaining a score needs, so that the image, which may be large, can be freed. */
public final class CroppedImage {
    private final CropPixels pixels;
    private final CropMosaic mosaic;

    private CroppedImage(CropPixels pixels, CropMosaic mosaic) {
        this.pixels = pixels;
        this.mosaic = mosaic;
    }

    /**
     * Crops an image by the card's test crops of the whole image.
     *
     * @throws IllegalArgumentException if the image is too small for crops
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

    /** Returns the approximate memory in bytes. */
    public long bytes() {
        return pixels.scaled().rgb().length;
    }
}
