package org.gramian.basis;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Opens files of trained models in another engine than libtorch. {@code gramian-predict} has loaders for ONNX Runtime; a {@link
 * ServiceLoader} finds them.
 */
public interface FileLoader<T> {
    /** Returns the type that this loader opens. */
    Class<T> type();

    T load(Path file) throws IOException;

    /** Finds the loader of a type on the class path. */
    @SuppressWarnings("unchecked") // by its type
    static <T> Optional<FileLoader<T>> of(Class<T> type) {
        return ServiceLoader.load(FileLoader.class, FileLoader.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .filter(loader -> loader.type().equals(type))
                .map(loader -> (FileLoader<T>) loader)
                .findFirst();
    }
}
