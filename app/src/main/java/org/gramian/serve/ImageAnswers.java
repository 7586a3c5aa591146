package org.gramian.serve;

import java.util.Locale;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.Scoring;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a server tells of an image. */
final class ImageAnswers {
    private ImageAnswers() {}

    /** Of an image that cannot be read. */
    static ObjectNode unreadable(Upload upload, Unreadable reason, Limits limits) {
        ObjectNode result = Json.object().put("name", upload.name());
        result.putObject("error")
                .put("code", "unreadable")
                .put("problem", reason.problem().name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .put("message", message(reason, limits));
        return result;
    }

    /** The status of a request that is this image and nothing else. */
    static int status(Unreadable reason) {
        return reason.problem() == Problem.TOO_LARGE ? 413 : 422;
    }

    /** The reader's sentence, but for those that may hold words of a decoder or of this machine. */
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

    /** Its likeliest classes. */
    static ObjectNode prediction(Upload upload, Answer answer, int count) {
        ObjectNode result = Json.object()
                .put("name", upload.name())
                .put("class", answer.best().name())
                .put("probability", answer.best().probability());
        ArrayNode top = result.putArray("top");
        for (Answer.Guess guess : answer.top(count)) {
            top.addObject().put("class", guess.name()).put("probability", guess.probability());
        }
        return result;
    }

    static Answer answer(LoadedModel model, Order.Computed computed) {
        return Answer.of(
                Logits.ofCrops(computed.of(Engine.Rows.SCORES)), model.header().card());
    }

    /** Its descriptor: the mean over its crops. */
    static ObjectNode descriptor(Upload upload, Order.Computed computed) {
        float[] mean = Scoring.mean(computed.of(Engine.Rows.DESCRIPTORS));
        return Json.object().put("name", upload.name()).putPOJO("descriptor", mean); // no object for each number
    }
}
