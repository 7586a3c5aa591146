package org.gramian.serve;

import java.util.Base64;
import org.gramian.gallery.CountSketch;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Item;
import org.gramian.gallery.Neighbour;
import org.gramian.gallery.Neighbours;
import org.gramian.gallery.Part;
import tools.jackson.databind.node.ArrayNode;

/**
 * The training images of a model, ready to be compared with: what takes time to make is made once, with the model.
 *
 * @param gallery the images
 * @param sketch what makes a descriptor as short as theirs
 * @param neighbours finds those that are most alike
 */
public record NearestImages(Gallery gallery, CountSketch sketch, Neighbours neighbours) {
    private static final String JPEG = "data:image/jpeg;base64,";

    /** Those of a gallery. */
    public static NearestImages of(Gallery gallery) {
        return new NearestImages(
                gallery, CountSketch.of(gallery.descriptorSize()), Neighbours.of(gallery, Part.TRAINING));
    }

    /** Tells those that are most like an image with such descriptors of its crops. */
    void tell(ArrayNode list, float[][] crops, int count) {
        for (Neighbour neighbour : neighbours.nearest(sketch.describe(crops), count)) {
            Item item = gallery.items().get(neighbour.index());
            byte[] thumbnail = gallery.thumbnail(neighbour.index());
            list.addObject()
                    .put("name", item.name())
                    .put("class", gallery.classes().get(item.label()))
                    .put("distance", neighbour.distance())
                    .put("thumbnail", JPEG + Base64.getEncoder().encodeToString(thumbnail));
        }
    }
}
