package org.gramian.spark.executor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.spark.executor.ModelContent.SharedModel;
import org.gramian.tensor.Device;

/**
 * The models of this Java virtual machine. Each is loaded once and shared by all tasks. An unused model stays loaded for later
 * tasks until another one is loaded: an executor holds the models that its tasks use, and at most one more.
 */
public final class ExecutorModels {
    private static final Map<Key, Loaded> LOADED = new HashMap<>();

    private ExecutorModels() {}

    private record Key(String fingerprint, Device device) {}

    private static final class Loaded {
        final Model model;
        final Classifier classifier;
        int users;

        Loaded(ModelFile.Stored stored) {
            this.model = stored.model();
            this.classifier = Classifier.of(stored.model(), stored.card());
        }
    }

    /** A model in use, to be closed when the task ends. Closing it again has no effect. */
    public static final class Lease implements AutoCloseable {
        private final Loaded loaded;
        private boolean closed;

        private Lease(Loaded loaded) {
            this.loaded = loaded;
        }

        /** Returns the classifier, which other tasks use too: it must not be closed. */
        Classifier classifier() {
            return loaded.classifier;
        }

        /** Returns the model, which other tasks use too: it must not be changed. */
        public Model model() {
            return loaded.model;
        }

        public ModelCard card() {
            return loaded.classifier.card();
        }

        /** Returns the length of a descriptor. */
        long descriptorSize() {
            return model().head().pooling().descriptorSize(model().backbone().channels());
        }

        @Override
        public void close() {
            release(this);
        }
    }

    /** Returns a model on a device, loading it for the first task. */
    public static synchronized Lease acquire(SharedModel model, Device device) {
        Key key = new Key(model.fingerprint(), device);
        Loaded loaded = LOADED.get(key);
        if (loaded == null) {
            freeUnused();
            loaded = new Loaded(load(model, device));
            LOADED.put(key, loaded);
        }
        loaded.users++;
        return new Lease(loaded);
    }

    private static synchronized void release(Lease lease) {
        if (!lease.closed) {
            lease.closed = true;
            lease.loaded.users--;
        }
    }

    /** Returns the number of loaded models. */
    static synchronized int count() {
        return LOADED.size();
    }

    /** Frees the models that no task uses. */
    public static synchronized void freeUnused() {
        LOADED.values().removeIf(loaded -> {
            if (loaded.users == 0) {
                loaded.classifier.close();
            }
            return loaded.users == 0;
        });
    }

    private static ModelFile.Stored load(SharedModel model, Device device) {
        try {
            Path file = ModelContent.written(model.content().value());
            try {
                return ModelFile.read(file, device);
            } finally {
                Files.delete(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
