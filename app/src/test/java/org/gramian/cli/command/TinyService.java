package org.gramian.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.OptionalDouble;
import org.gramian.cli.TinyRun;
import org.gramian.cli.common.TrainedModel;
import org.gramian.export.OpenModel;
import org.gramian.serve.LoadedModel;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.Server;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/** A server of the model of {@link TinyRun}, started once per process. */
public final class TinyService implements BeforeAllCallback {
    @SuppressWarnings("NullAway.Init")
    private static Server server;

    @Override
    public void beforeAll(ExtensionContext context) {
        new TinyRun().beforeAll(context);
        server = context.getStore(StoreScope.LAUNCHER_SESSION, Namespace.create(TinyService.class))
                .computeIfAbsent(Server.class, _ -> start(), Server.class);
    }

    private static Server start() {
        try {
            return serve(TinyRun.folder(), ServeOptions.local(0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A server of a run's model. */
    public static Server serve(Path run, ServeOptions options) throws IOException {
        return Server.start(
                options,
                LoadedModel.Source.of(
                        TrainedModel.find(run),
                        OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH),
                        OptionalDouble.empty()),
                Server.Listener.NONE);
    }

    /** Where the page is. */
    static String address() {
        return "http://localhost:" + server.port() + "/";
    }
}
