package org.gramian.serve;

import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import org.gramian.explain.CroppedImage;
import org.gramian.explain.Explainer;
import org.gramian.explain.HeatImage;
import org.gramian.explain.HeatMap;
import org.gramian.gallery.NearestImages;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelHeader;
import org.gramian.model.Prediction;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON of the responses: the model, predictions, descriptors, nearest images, explanations. */
final class ResponseJson {
    private static final String JPEG = "data:image/jpeg;base64,";
    private static final String PNG = "data:image/png;base64,";

    /** Without channel pairs, which the page does not show. */
    private static final Explainer.Settings REGIONS =
            new Explainer.Settings(Optional.empty(), Explainer.Settings.USUAL.attribution(), 0);

    private ResponseJson() {}

    /** Returns the description of a model. */
    static ObjectNode model(LoadedModel model) {
        ModelHeader header = model.header();
        ObjectNode document = Json.object().put("name", model.name());
        ArrayNode classes = document.putArray("classes");
        header.card().classes().forEach(classes::add);
        document.put("backbone", header.backbone().name())
                .put("layer", header.backbone().layer())
                .put("pooling", header.head().pooling().text())
                .put("engine", model.opened().engineName())
                .put("descriptorSize", header.descriptorSize())
                .put("parameters", header.count(""));
        ObjectNode metrics = document.putObject("metrics");
        header.card().metrics().forEach((name, value) -> metrics.put(name, value));
        return document.put("gallery", model.nearest().isPresent())
                .put("explain", model.explained().isPresent());
    }

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

    /** Computes the heat map of a class, on the computing thread. */
    static HeatMap explain(LoadedModel loaded, CroppedImage view, String name) {
        ModelCard card = loaded.header().card();
        return new Explainer(loaded.explained().orElseThrow(), card, REGIONS)
                .explain(view, card.classes().indexOf(name))
                .heat();
    }

    /** Draws a heat map, on a thread that no other request waits for. */
    static ObjectNode explanation(HeatMap heat, String name) {
        byte[] png = HeatImage.png(HeatImage.overlay(heat));
        return Json.object()
                .put("class", name)
                .put("heat", PNG + Base64.getEncoder().encodeToString(png));
    }

    /** Throws if the model cannot be explained. */
    static void requireExplained(LoadedModel loaded) throws HttpError {
        if (loaded.explained().isEmpty()) {
            throw HttpError.wrong("explain=true is not supported by this model: "
                    + loaded.opened()
                            .model()
                            .flatMap(Explainer::refusal)
                            .orElse("its engine, " + loaded.opened().engineName() + ", computes no gradients"));
        }
    }
}
