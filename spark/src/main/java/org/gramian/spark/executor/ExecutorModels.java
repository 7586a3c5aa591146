package org.gramian.spark.executor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.gramian.model.Engine;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;

/**
 * The models of this Java virtual machine: each is loaded once, serves all tasks, and stays for tasks to come until another one
 * is wanted while nobody uses it. So an executor holds the models that its tasks use, and at most one more.
 */
public final class ExecutorModels {
    private static final Map<Key, Loaded> LOADED = new HashMap<>();

    private ExecutorModels() {}

    private record Key(String fingerprint, Device device) {}

    private static final class Loaded {
        final ModelFile.Stored stored;
        int users;

        Loaded(ModelFile.Stored stored) {
            this.stored = stored;
        }
    }

    /** A model in use; close it when the task ends, once or more often. */
    public static final class Lease implements AutoCloseable {
        private final Loaded loaded;
        private boolean closed;

        private Lease(Loaded loaded) {
            this.loaded = loaded;
        }

        Engine engine() {
            return Engine.of(loaded.stored.model());
        }

        /** The model, which others use too: nobody changes it. */
        public Model model() {
            return loaded.stored.model();
        }

        public ModelCard card() {
            return loaded.stored.card();
        }

        /** Numbers of a descriptor. */
        long descriptorSize() {
            return model().head().pooling().descriptorSize(model().backbone().channels());
        }

        @Override
        public void close() {
            release(this);
        }
    }

    /** A model on a device, loaded by the first task that wants it. */
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

    /** How many are in memory. */
    static synchronized int count() {
        return LOADED.size();
    }

    /** Frees those that no task uses. */
    public static synchronized void freeUnused() {
        LOADED.values().removeIf(loaded -> {
            if (loaded.users == 0) {
                loaded.stored.close();
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
