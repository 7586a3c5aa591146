package org.gramian.serve;

import java.util.Optional;
import org.gramian.explain.Explainer;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.NearestImages;
import org.gramian.inference.OpenModel;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;

/**
 * A served model.
 *
 * @param name for messages and pages: the name of its file or run
 * @param opened the model with its engine
 * @param nearest index of its training images, if the model has a gallery
 */
public record LoadedModel(String name, OpenModel opened, Optional<NearestImages> nearest) {
    /** Returns a model in libtorch, without a gallery. */
    public static LoadedModel of(String name, ModelFile.Stored stored) {
        return of(name, stored, Optional.empty());
    }

    /** Returns a model in libtorch. */
    public static LoadedModel of(String name, ModelFile.Stored stored, Optional<Gallery> gallery) {
        return new LoadedModel(name, OpenModel.of(stored), gallery.map(NearestImages::of));
    }

    ModelHeader header() {
        return opened.header();
    }

    Classifier classifier() {
        return opened.classifier();
    }

    /** Returns the model if its predictions can be explained. */
    Optional<Model> explained() {
        return opened.model().filter(model -> Explainer.refusal(model).isEmpty());
    }

    void release() {
        opened.close();
    }
}
