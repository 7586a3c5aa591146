package org.gramian.serve;

import io.javalin.http.Context;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
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
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds and sends JSON responses: the model, predictions, descriptors, nearest images, explanations, errors. */
final class ResponseJson {
    static final String TYPE = "application/json";

    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final ObjectWriter STREAM = MAPPER.writer()
            .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
    private static final String JPEG = "data:image/jpeg;base64,";
    private static final String PNG = "data:image/png;base64,";

    /** Without channel pairs, which the page does not show. */
    private static final Explainer.Settings REGIONS =
            new Explainer.Settings(Optional.empty(), Explainer.Settings.DEFAULT.attribution(), 0);

    private ResponseJson() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static byte[] bytes(JsonNode document) {
        return MAPPER.writeValueAsBytes(document);
    }

    static ObjectNode error(String code, String message) {
        ObjectNode document = object();
        document.putObject("error").put("code", code).put("message", message);
        return document;
    }

    static void answer(Context context, JsonNode document) {
        context.contentType(TYPE).result(bytes(document));
    }

    /**
     * Streams a response, so that a long one is never in memory as text. Closes the connection if the client does not read it in
     * time: a partial response must not look complete.
     */
    static void stream(Context context, JsonNode document, Duration longest) {
        Deadline end = Deadline.in(longest);
        OutputStream out = context.contentType(TYPE).outputStream();
        OutputStream timed = new FilterOutputStream(out) {
            @Override
            public void write(byte[] bytes, int from, int count) throws IOException {
                if (end.isOver()) {
                    throw new InterruptedIOException("the client did not read the response within " + end.time());
                }
                out.write(bytes, from, count);
            }
        };
        try {
            STREAM.writeValue(timed, document);
            out.close();
        } catch (JacksonIOException | IOException _) {
            ServletContextRequest.getServletContextRequest(context.req())
                    .getConnectionMetaData()
                    .getConnection()
                    .getEndPoint()
                    .close();
        }
    }

    static ObjectNode model(LoadedModel model) {
        ModelHeader header = model.header();
        ObjectNode document = object().put("name", model.name());
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
                .put("explain", model.incompatibility().isEmpty());
    }

    static ObjectNode unreadable(UploadedImage image, Unreadable reason, Limits limits) {
        ObjectNode result = object().put("name", image.name());
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

    static ObjectNode prediction(UploadedImage image, Prediction prediction, int count) {
        ObjectNode result = object().put("name", image.name())
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
    static ObjectNode descriptor(UploadedImage image, Batcher.Computed computed) {
        float[] mean = computed.result().descriptor();
        return object().put("name", image.name()).putPOJO("descriptor", mean); // an array, not a node per number
    }

    /** Computes the heat map of a class, on the computing thread. */
    static HeatMap explain(LoadedModel loaded, CroppedImage view, String name) {
        ModelCard card = loaded.header().card();
        return new Explainer(loaded.explained(), card, REGIONS)
                .explain(view, card.classes().indexOf(name))
                .heat();
    }

    /** Draws a heat map, on a thread that no other request waits for. */
    static ObjectNode explanation(HeatMap heat, String name) {
        byte[] png = HeatImage.png(HeatImage.overlay(heat));
        return object().put("class", name).put("heat", PNG + Base64.getEncoder().encodeToString(png));
    }

    static void requireExplained(LoadedModel loaded) throws HttpError {
        Optional<String> reason = loaded.incompatibility();
        if (reason.isPresent()) {
            throw HttpError.wrong("explain=true is not supported by this model: " + reason.get());
        }
    }
}
