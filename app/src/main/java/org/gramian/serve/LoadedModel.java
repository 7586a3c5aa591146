package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.explain.Explainer;
import org.gramian.export.OpenModel;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.NearestImages;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelHeader;

/** A served model. */
public record LoadedModel(String name, OpenModel opened, Optional<NearestImages> nearest) {
    /** How to load the model of a server, again whenever one of these files changes. */
    public record Source(List<Path> files, Loader loader) {
        /** Returns the source of a model file, with the gallery beside it. */
        public static Source of(Path file, OpenModel.Request request) {
            return new Source(List.of(file, file.resolveSibling(Gallery.FILE)), events -> {
                // If the file changes between these two, both are loaded again.
                Optional<NearestImages> nearest = gallery(file, events).map(NearestImages::of);
                return new LoadedModel(fileOrRun(file), OpenModel.open(file, request), nearest);
            });
        }
    }

    /** Loads a model; an {@link IOException} says that there is no usable one. */
    @FunctionalInterface
    public interface Loader {
        LoadedModel load(Consumer<String> events) throws IOException;
    }

    /** Reads the gallery beside a model; empty if it is unusable. */
    private static Optional<Gallery> gallery(Path model, Consumer<String> events) {
        try {
            return Gallery.beside(model);
        } catch (Gallery.GalleryFileException wrong) {
            events.accept("nearest images are unavailable: " + wrong.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the name of the file, or of its run folder if the file has the default name. */
    private static String fileOrRun(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return file.endsWith("model.safetensors") && folder != null && folder.getNameCount() > 0
                ? String.valueOf(folder.getFileName())
                : String.valueOf(file.getFileName());
    }

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
