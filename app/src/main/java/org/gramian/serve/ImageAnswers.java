package org.gramian.serve;

import java.util.Base64;
import java.util.Locale;
import org.gramian.gallery.NearestImages;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Prediction;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON results of one image. */
final class ImageAnswers {
    private static final String JPEG = "data:image/jpeg;base64,";

    private ImageAnswers() {}

    /** Returns the error of an unreadable image. */
    static ObjectNode unreadable(Upload upload, Unreadable reason, Limits limits) {
        ObjectNode result = Json.object().put("name", upload.name());
        result.putObject("error")
                .put("code", "unreadable")
                .put("problem", reason.problem().name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .put("message", message(reason, limits));
        return result;
    }

    /** Returns the HTTP status of a request with this image only. */
    static int status(Unreadable reason) {
        return reason.problem() == Problem.TOO_LARGE ? 413 : 422;
    }

    /** Returns the reader's message, except where it may contain text of a decoder or of this machine. */
    private static String message(Unreadable reason, Limits limits) {
        return switch (reason.problem()) {
            case CORRUPT -> "expected an image that can be decoded, found damaged data";
            case TRUNCATED -> "expected a complete image, found a truncated file";
            case TOO_LARGE ->
                "expected an image of at most " + limits.upload().pixels()
                        + " pixels that decodes within seconds, found one" + " that is larger or takes longer";
            default -> reason.reason();
        };
    }

    /** Returns the most probable classes of an image. */
    static ObjectNode prediction(Upload upload, Prediction prediction, int count) {
        ObjectNode result = Json.object()
                .put("name", upload.name())
                .put("class", prediction.className())
                .put("probability", prediction.probability());
        ArrayNode top = result.putArray("top");
        for (Prediction.ClassProbability candidate : prediction.top(count)) {
            top.addObject().put("class", candidate.name()).put("probability", candidate.probability());
        }
        return result;
    }

    /** Adds the training images nearest to an image with these descriptors of its crops. */
    static void nearest(ArrayNode list, NearestImages images, float[][] crops, int count) {
        for (NearestImages.Match match : images.nearest(crops, count)) {
            byte[] thumbnail = images.gallery().thumbnail(match.index());
            list.addObject()
                    .put("name", match.name())
                    .put("class", match.className())
                    .put("distance", match.distance())
                    .put("thumbnail", JPEG + Base64.getEncoder().encodeToString(thumbnail));
        }
    }

    /** Returns the descriptor of an image: the mean over its crops. */
    static ObjectNode descriptor(Upload upload, Order.Computed computed) {
        float[] mean = computed.result().descriptor();
        return Json.object().put("name", upload.name()).putPOJO("descriptor", mean); // an array, not a node per number
    }
}
