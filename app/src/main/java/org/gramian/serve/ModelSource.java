package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.export.OpenModel;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryFileException;
import org.gramian.gallery.NearestImages;

/** Loads the model of a server, again whenever its files change. */
public interface ModelSource {
    List<Path> files();

    /**
     * Loads the model.
     *
     * @throws IOException if there is no usable model
     */
    LoadedModel load(Consumer<String> events) throws IOException;

    @FunctionalInterface
    interface Opening {
        OpenModel open(Path file) throws IOException;
    }

    /** Returns the source of a model file, with the gallery beside it. */
    static ModelSource of(Path file, Opening opening) {
        return new ModelSource() {
            @Override
            public List<Path> files() {
                return List.of(file, file.resolveSibling(Gallery.FILE));
            }

            @Override
            public LoadedModel load(Consumer<String> events) throws IOException {
                // If the file changes between these two, the reloader loads both again.
                Optional<NearestImages> nearest = gallery(file, events).map(NearestImages::of);
                return new LoadedModel(name(file), opening.open(file), nearest);
            }
        };
    }

    /** Reads the gallery beside a model; empty if it is unusable. */
    private static Optional<Gallery> gallery(Path model, Consumer<String> events) {
        try {
            return Gallery.beside(model);
        } catch (GalleryFileException wrong) {
            events.accept("nearest images are unavailable: " + wrong.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the name of the file, or of its run folder if the file has the default name. */
    private static String name(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return file.endsWith("model.safetensors") && folder != null && folder.getNameCount() > 0
                ? String.valueOf(folder.getFileName())
                : String.valueOf(file.getFileName());
    }
}
