package org.gramian.serve;

import java.util.Base64;
import java.util.Optional;
import org.gramian.explain.CroppedImage;
import org.gramian.explain.Explainer;
import org.gramian.explain.HeatImage;
import org.gramian.explain.HeatMap;
import org.gramian.model.ModelCard;
import tools.jackson.databind.node.ObjectNode;

/** Where a decision comes from, as an image to lay over the image. */
final class Explanations {
    private static final String PNG = "data:image/png;base64,";

    /** No pairs of feature maps, which nobody would see. */
    private static final Explainer.Settings REGIONS =
            new Explainer.Settings(Optional.empty(), Explainer.Settings.USUAL.attribution(), 0);

    private Explanations() {}

    /** Where it comes from; for the thread that computes. */
    static HeatMap of(LoadedModel loaded, CroppedImage view, String name) {
        ModelCard card = loaded.header().card();
        return new Explainer(loaded.explained().orElseThrow(), card, REGIONS)
                .explain(view, card.classes().indexOf(name))
                .heat();
    }

    /** As an answer; for a thread that others do not wait for. */
    static ObjectNode tell(HeatMap heat, String name) {
        byte[] png = HeatImage.png(HeatImage.overlay(heat));
        return Json.object()
                .put("class", name)
                .put("heat", PNG + Base64.getEncoder().encodeToString(png));
    }

    /** Refuses to explain what cannot be. */
    static void require(LoadedModel loaded) throws HttpError {
        if (loaded.explained().isEmpty()) {
            throw HttpError.wrong("explain=true is not supported by this model: "
                    + loaded.computing()
                            .model()
                            .flatMap(Explainer::refusal)
                            .orElse("its engine, " + loaded.computing().name() + ", computes no gradients"));
        }
    }
}
