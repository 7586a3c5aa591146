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

/** Where a server gets its model from, as often as the files change. */
public interface ModelSource {
    /** The files that it is made of; one that changes has the model loaded again. */
    List<Path> files();

    /**
     * Loads the model, whole.
     *
     * @param say is told what is left out of it, and why
     * @throws IOException if there is none that can be used; the message is for people
     */
    LoadedModel load(Consumer<String> say) throws IOException;

    /** How a file becomes a model that is ready to compute. */
    @FunctionalInterface
    interface Opening {
        OpenModel open(Path file) throws IOException;
    }

    /** A model file that libtorch computes, with the gallery beside it. */
    static ModelSource of(Path file, Device device) {
        return of(file, it -> OpenModel.open(it, OpenModel.EngineChoice.LIBTORCH, () -> device, 0));
    }

    /** A model file, computed by whatever it is opened with, with the gallery beside it. */
    static ModelSource of(Path file, Opening opening) {
        return new ModelSource() {
            @Override
            public List<Path> files() {
                return List.of(file, file.resolveSibling(Gallery.FILE));
            }

            @Override
            public LoadedModel load(Consumer<String> say) throws IOException {
                Optional<FileVersion> before = FileVersion.of(file);
                Optional<Gallery> gallery = gallery(file, say);
                OpenModel opened = opening.open(file);
                if (!FileVersion.of(file).equals(before)) {
                    // The gallery may be of another model than the one that was opened; the server looks again soon.
                    say.accept("nearest images are unavailable: the model file changed while it was loaded");
                    gallery = Optional.empty();
                }
                return new LoadedModel(name(file), opened, gallery.map(NearestImages::of));
            }
        };
    }

    /** A model that is in memory already, and has no file that could change. */
    static ModelSource of(LoadedModel model) {
        AtomicBoolean taken = new AtomicBoolean();
        return new ModelSource() {
            @Override
            public List<Path> files() {
                return List.of();
            }

            @Override
            public LoadedModel load(Consumer<String> say) throws IOException {
                if (taken.getAndSet(true)) {
                    throw new IOException("expected a model loaded from a file, found one created in memory");
                }
                return model;
            }
        };
    }

    /** The gallery beside a model; a model whose gallery cannot be used answers without. */
    static Optional<Gallery> gallery(Path model, Consumer<String> say) {
        try {
            return Gallery.beside(model);
        } catch (GalleryFileException wrong) {
            say.accept("nearest images are unavailable: " + wrong.getMessage());
            return Optional.empty();
        }
    }

    /** What people call a model: its file's name, or its run's where every run has a file of that name. */
    static String name(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return file.endsWith("model.safetensors") && folder != null && folder.getNameCount() > 0
                ? String.valueOf(folder.getFileName())
                : String.valueOf(file.getFileName());
    }
}
