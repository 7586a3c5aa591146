package org.gramian.spark.executor;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.broadcast.Broadcast;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;

/**
 * The models of this Java virtual machine. Each is loaded once and shared by all tasks. An unused model stays loaded for later
 * tasks until another one is loaded: an executor holds the models that its tasks use, and at most one more.
 */
public final class ExecutorModels {
    private static final Map<Key, Loaded> LOADED = new HashMap<>();

    private ExecutorModels() {}

    private record Key(String fingerprint, Device device) {}

    /** Model as tasks carry it: a broadcast, which executors fetch once, from the driver and from one another. */
    public record SharedModel(String fingerprint, Broadcast<byte[]> content) implements Serializable {}

    /** A loaded model, which several tasks use: it must neither be changed nor closed. */
    static final class Loaded {
        private final Model model;
        private final Classifier classifier;
        private int users;

        private Loaded(ModelFile.Stored stored) {
            this.model = stored.model();
            this.classifier = Classifier.of(stored.model(), stored.card());
        }

        Model model() {
            return model;
        }

        Classifier classifier() {
            return classifier;
        }

        long descriptorSize() {
            return model.head().pooling().descriptorSize(model.backbone().channels());
        }

        /** Ends the use by a task, called once for each {@link #acquire}. */
        void release() {
            ExecutorModels.release(this);
        }
    }

    private static synchronized void release(Loaded model) {
        model.users--;
    }

    /** Returns a model on a device, loading it for the first task. */
    static synchronized Loaded acquire(SharedModel model, Device device) {
        Key key = new Key(model.fingerprint(), device);
        if (!LOADED.containsKey(key)) {
            LOADED.values().removeIf(other -> {
                if (other.users == 0) {
                    other.classifier.close();
                }
                return other.users == 0;
            });
        }
        Loaded loaded = LOADED.computeIfAbsent(key, _ -> load(model, device));
        loaded.users++;
        return loaded;
    }

    static synchronized int count() {
        return LOADED.size();
    }

    private static Loaded load(SharedModel model, Device device) {
        try {
            return ModelContent.opened(model.content().value(), file -> new Loaded(ModelFile.read(file, device)));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
