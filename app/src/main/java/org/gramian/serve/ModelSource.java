package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.GalleryFileException;
import org.gramian.gallery.NearestImages;
import org.gramian.inference.OpenModel;
import org.gramian.tensor.Device;

/** Loads the model of a server, again whenever its files change. */
public interface ModelSource {
    /** Returns the files of the model; a changed file causes a reload. */
    List<Path> files();

    /**
     * Loads the model.
     *
     * @param events receives messages, e.g. on an unusable gallery
     * @throws IOException if there is no usable model
     */
    LoadedModel load(Consumer<String> events) throws IOException;

    /** Opens a model file. */
    @FunctionalInterface
    interface Opening {
        OpenModel open(Path file) throws IOException;
    }

    /** Returns the source of a model file in libtorch, with the gallery beside it. */
    static ModelSource of(Path file, Device device) {
        return of(file, it -> OpenModel.open(it, OpenModel.EngineChoice.LIBTORCH, () -> device, 0));
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

    /** Returns the source of a model in memory, which has no files. */
    static ModelSource of(LoadedModel model) {
        AtomicBoolean taken = new AtomicBoolean();
        return new ModelSource() {
            @Override
            public List<Path> files() {
                return List.of();
            }

            @Override
            public LoadedModel load(Consumer<String> events) throws IOException {
                if (taken.getAndSet(true)) {
                    throw new IOException("expected a model loaded from a file, found one created in memory");
                }
                return model;
            }
        };
    }

    /** Reads the gallery beside a model; empty if it is unusable. */
    static Optional<Gallery> gallery(Path model, Consumer<String> events) {
        try {
            return Gallery.beside(model);
        } catch (GalleryFileException wrong) {
            events.accept("nearest images are unavailable: " + wrong.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the name of the file, or of its run folder if the file has the default name. */
    static String name(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return file.endsWith("model.safetensors") && folder != null && folder.getNameCount() > 0
                ? String.valueOf(folder.getFileName())
                : String.valueOf(file.getFileName());
    }
}
