package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryFileException;
import org.gramian.gallery.NearestImages;
import org.gramian.inference.OpenModel;

/** Loads the model of a server, again whenever its files change. */
public interface ModelSource {
    List<Path> files();

    /**
     * Loads the model.
     *
     * @param events receives messages, e.g. on an unusable gallery
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
                Optional<ModelReloader.FileVersion> before = ModelReloader.FileVersion.of(file);
                Optional<Gallery> gallery = gallery(file, events);
                OpenModel opened = opening.open(file);
                if (!ModelReloader.FileVersion.of(file).equals(before)) {
                    // The gallery may belong to another model than the one that was opened; the server checks the files
                    // again soon.
                    events.accept("nearest images are unavailable: the model file changed while it was loaded");
                    gallery = Optional.empty();
                }
                return new LoadedModel(name(file), opened, gallery.map(NearestImages::of));
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
