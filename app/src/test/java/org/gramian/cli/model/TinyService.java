package org.gramian.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ModelPlace;
import org.gramian.inference.OpenModel;
import org.gramian.serve.ModelSource;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.Server;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/** A run of {@code gramian train} at its smallest and a server of its model, made once for all tests that look at them. */
public final class TinyService implements BeforeAllCallback {
    private static final Namespace PLACE = Namespace.create(TinyService.class);

    /** Whom JUnit closes after the last test. */
    private record Running(Path folder, Server server) implements AutoCloseable {
        static Running begin() {
            try {
                Path folder = Files.createTempDirectory("gramian-browser");
                Run trained = TinyTraining.in(folder).train(folder.resolve("run"), "--epochs", 2, "--fine-tune", 0);
                assertThat(trained.code()).as(trained.err()).isZero();
                return new Running(folder, serve(folder.resolve("run"), ServeOptions.local(0)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static Optional<Running> running = Optional.empty();

    @Override
    public void beforeAll(ExtensionContext context) {
        running = Optional.of(context.getStore(StoreScope.LAUNCHER_SESSION, PLACE)
                .computeIfAbsent(Running.class, _ -> Running.begin(), Running.class));
    }

    /** A server of a run's model. */
    public static Server serve(Path run, ServeOptions options) throws IOException {
        return Server.start(
                options,
                ModelSource.of(
                        ModelPlace.of(run),
                        file -> OpenModel.open(file, OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH))),
                Server.Listener.NONE);
    }

    /** Where the page is. */
    static String address() {
        return "http://localhost:" + running.orElseThrow().server().port() + "/";
    }

    /** The folder of the run. */
    static Path run() {
        return running.orElseThrow().folder().resolve("run");
    }
}
