package org.gramian.serve;

import java.util.Base64;
import org.gramian.explain.Explainer;
import org.gramian.explain.Explanation;
import org.gramian.explain.HeatImage;
import org.gramian.image.Picture;
import org.gramian.model.Model;
import tools.jackson.databind.node.ObjectNode;

/** Where a decision comes from, as an image to lay over the picture. */
final class Explanations {
    private static final String PNG = "data:image/png;base64,";

    private Explanations() {}

    static ObjectNode of(LoadedModel loaded, Picture picture, String name) {
        Model model = loaded.explained().orElseThrow();
        int label = loaded.header().card().classes().indexOf(name);
        Explanation found = Explainer.explain(model, loaded.header().card(), picture, label);
        byte[] heat = HeatImage.png(HeatImage.overlay(found.heat()));
        return Json.object()
                .put("class", name)
                .put("heat", PNG + Base64.getEncoder().encodeToString(heat));
    }

    /** Refuses to explain what cannot be. */
    static void require(LoadedModel loaded) throws Refusal {
        if (loaded.explained().isEmpty()) {
            throw Refusal.wrong("expected no explain=true, for this model cannot be explained: "
                    + loaded.computing()
                            .model()
                            .flatMap(Explainer::refusal)
                            .orElse("its engine, " + loaded.computing().name() + ", computes no gradients"));
        }
    }
}
