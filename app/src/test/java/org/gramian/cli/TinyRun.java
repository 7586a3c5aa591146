package org.gramian.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/** A finished run of {@code gramian train}, made once per process. Tests must not change it. */
public final class TinyRun implements BeforeAllCallback {
    public static final String EPOCHS = "2";

    private record Finished(TinyTraining training, Path folder, Run run) implements AutoCloseable {
        static Finished train() {
            try {
                TinyTraining training = TinyTraining.in(Files.createTempDirectory("gramian-run"));
                Path folder = training.root().resolve("run");
                Run run = training.train(folder, "--epochs", EPOCHS).done();
                return new Finished(training, folder, run);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            TinyTraining.delete(training.root());
        }
    }

    @SuppressWarnings("NullAway.Init")
    private static Finished finished;

    @Override
    public void beforeAll(ExtensionContext context) {
        finished = context.getStore(StoreScope.LAUNCHER_SESSION, Namespace.create(TinyRun.class))
                .computeIfAbsent(Finished.class, _ -> Finished.train(), Finished.class);
    }

    /** Returns the images and options that it was trained with. */
    public static TinyTraining training() {
        return finished.training;
    }

    public static Path folder() {
        return finished.folder;
    }

    public static Path model() {
        return finished.folder.resolve("model.safetensors");
    }

    /** Returns the output of the command. */
    public static Run run() {
        return finished.run;
    }

    /** Copies the run, for a test that changes it. */
    public static Path copy(Path target) throws IOException {
        try (Stream<Path> all = Files.walk(finished.folder)) {
            for (Path path : all.toList()) {
                Files.copy(path, target.resolve(finished.folder.relativize(path)));
            }
        }
        return target;
    }
}
