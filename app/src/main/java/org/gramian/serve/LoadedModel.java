package org.gramian.serve;

import java.util.Optional;
import org.gramian.explain.Explainer;
import org.gramian.gallery.NearestImages;
import org.gramian.inference.OpenModel;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelHeader;

/**
 * A served model.
 *
 * @param name for messages and pages: the name of its file or run
 * @param nearest index of its training images, if the model has a gallery
 */
public record LoadedModel(String name, OpenModel opened, Optional<NearestImages> nearest) {
    ModelHeader header() {
        return opened.header();
    }

    Classifier classifier() {
        return opened.classifier();
    }

    Optional<Model> explained() {
        return opened.model().filter(model -> Explainer.refusal(model).isEmpty());
    }

    void release() {
        opened.close();
    }
}
