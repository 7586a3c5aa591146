package org.gramian.serve;

import java.util.Base64;
import java.util.Optional;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Item;
import org.gramian.gallery.Neighbour;
import org.gramian.gallery.Neighbours;
import org.gramian.gallery.Part;
import org.gramian.gallery.Sketch;
import org.gramian.model.Engine;
import tools.jackson.databind.node.ArrayNode;

/** The training pictures that a model finds most like a picture; none where it has no gallery. */
final class NearestAnswer {
    private static final String JPEG = "data:image/jpeg;base64,";

    private NearestAnswer() {}

    static void add(ArrayNode list, Optional<Gallery> pictures, Order.Computed computed, int count) {
        if (pictures.isEmpty()) {
            return;
        }
        Gallery gallery = pictures.get();
        float[] vector = Sketch.of(gallery.descriptorSize()).describe(computed.of(Engine.Rows.DESCRIPTORS));
        for (Neighbour neighbour : Neighbours.of(gallery, Part.TRAINING).nearest(vector, count)) {
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
