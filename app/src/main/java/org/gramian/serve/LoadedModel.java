package org.gramian.serve;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.explain.Explainer;
import org.gramian.gallery.Gallery;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;

/**
 * A model in memory, with all that answers need of it.
 *
 * @param name for people: the name of its file
 * @param header what it is made of, and its card
 * @param computing what computes it
 * @param nearest the images that it was trained on, where they are at hand
 */
public record LoadedModel(String name, ModelHeader header, Computing computing, Optional<NearestImages> nearest) {
    /**
     * What computes a model.
     *
     * @param name of the engine, as people know it
     * @param engine it
     * @param model the model itself, where the engine computes that; what explanations need
     * @param release frees everything
     */
    public record Computing(String name, Engine engine, Optional<Model> model, Runnable release) {}

    /** A model that was read, computed by libtorch, without its images. */
    public static LoadedModel of(String name, ModelFile.Stored stored) {
        return of(name, stored, Optional.empty());
    }

    /** A model that was read, computed by libtorch. */
    public static LoadedModel of(String name, ModelFile.Stored stored, Optional<Gallery> gallery) {
        Model model = stored.model();
        Computing computing = new Computing("libtorch", Engine.of(model), Optional.of(model), stored::close);
        return new LoadedModel(
                name,
                new ModelHeader(model.backbone(), model.head(), stored.card()),
                computing,
                gallery.map(NearestImages::of));
    }

    /** How images, which never come from files here, become crops. */
    Rendering rendering() {
        return header.card().rendering(LoadedModel::noFile);
    }

    private static ReadResult noFile(Path file) {
        return new Unreadable(Problem.INACCESSIBLE, "expected an image in memory, found a file name");
    }

    /** The model itself, where its decisions can be explained. */
    Optional<Model> explained() {
        return computing.model().filter(model -> Explainer.refusal(model).isEmpty());
    }

    void release() {
        computing.release().run();
    }
}
