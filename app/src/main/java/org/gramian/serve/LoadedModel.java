package org.gramian.serve;

import java.util.Optional;
import org.gramian.explain.Explainer;
import org.gramian.export.OpenModel;
import org.gramian.gallery.NearestImages;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelHeader;

/**
 * A served model.
 *
 * @param name for messages and pages: the name of its file or run
 */
public record LoadedModel(String name, OpenModel opened, Optional<NearestImages> nearest) {
    ModelHeader header() {
        return opened.header();
    }

    Classifier classifier() {
        return opened.classifier();
    }

    /** Returns why predictions cannot be explained; empty if they can. */
    Optional<String> incompatibility() {
        return opened.gradients().isEmpty()
                ? Optional.of("its engine, " + opened.engineName() + ", computes no gradients")
                : Explainer.incompatibility(header().head());
    }

    /** Returns the model in libtorch, loading it on the first call. */
    Model explained() {
        return opened.gradients().orElseThrow().get();
    }

    void release() {
        opened.close();
    }
}
