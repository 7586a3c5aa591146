package org.gramian.explain;

import java.util.List;
import org.gramian.image.Picture;
import org.gramian.image.crop.Crop;
import org.gramian.model.ModelCard;

/**
 * What a model sees of a picture: all that explaining a score of it later needs. The picture itself, which may be very large,
 * can be forgotten meanwhile.
 */
public final class View {
    private final CropPixels pixels;
    private final Mosaic mosaic;

    private View(CropPixels pixels, Mosaic mosaic) {
        this.pixels = pixels;
        this.mosaic = mosaic;
    }

    /**
     * Of a picture, by the card's test crops of the whole of it.
     *
     * @throws IllegalArgumentException if no crops can be taken of such a picture
     */
    public static View of(Picture picture, ModelCard card) {
        List<Crop> windows = card.crops().whole().testing().of(picture.width(), picture.height(), "");
        return new View(
                CropPixels.of(picture, windows, card.preprocessing()),
                Mosaic.of(picture.width(), picture.height(), windows));
    }

    CropPixels pixels() {
        return pixels;
    }

    Mosaic mosaic() {
        return mosaic;
    }

    /** About how much memory it takes. */
    public long bytes() {
        return pixels.scaled().rgb().length;
    }
}
