package org.gramian.cli;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.gramian.serve.ModelSource;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.Server;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian serve}: a model behind HTTP, with a page for people. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        header = "Serve a model over HTTP, with a web page.",
        description = {
            "Endpoints: POST /v1/predict and /v1/embed, GET /v1/model, /health, /metrics and /openapi.json, and a web page",
            "at / to drop or paste images. Concurrent requests are batched. Ctrl-C or SIGTERM: finishes accepted requests",
            "and exits. SIGHUP, or a changed model file: reloads the model without downtime."
        })
final class ServeCommand implements Callable<Integer> {
    private static final String TOKEN_VARIABLE = "GRAMIAN_TOKEN";

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = ServeOptions.DEFAULT_HOST,
            description = "address to listen on, e.g. 0.0.0.0 for all (default: ${DEFAULT-VALUE}, local only)")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String host;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "" + ServeOptions.DEFAULT_PORT,
            description = "port to listen on, 0 for any free one (default: ${DEFAULT-VALUE})")
    private int port;

    @Option(
            names = "--token",
            paramLabel = "TOKEN",
            description = "required as 'Authorization: Bearer TOKEN' for /v1 and /metrics (default: " + TOKEN_VARIABLE
                    + " of the environment, which process lists do not show)")
    private @Nullable String token;

    @Option(names = "--no-token", description = "serve other machines without a token")
    private boolean noToken;

    @Option(names = "--verbose", description = "log every request")
    private boolean verbose;

    @Mixin
    private final ServeLimits limits = new ServeLimits();

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        ServeOptions options = new ServeOptions(host, port, token(), limits.limits());
        check(options);
        ModelSource source = ModelSource.of(engine.model(), engine::open);
        CountDownLatch requested = new CountDownLatch(1);
        try (Interruption _ = Interruption.of(
                        requested::countDown, "interrupted; finishing accepted requests", console::say);
                Server server = Server.start(options, source, listener())) {
            SighupHandler.onSignal(server::reload);
            console.say("serving at " + address(server.port()) + "; stop with Ctrl-C");
            requested.await();
        }
        return Main.DONE;
    }

    private Optional<String> token() {
        return Optional.ofNullable(token != null ? token : System.getenv(TOKEN_VARIABLE))
                .filter(_ -> !noToken);
    }

    private void check(ServeOptions options) {
        if (noToken && token != null) {
            throw new IllegalArgumentException("expected --token or --no-token, found both");
        }
        if (!options.isLocal() && options.token().isEmpty()) {
            if (!noToken) {
                throw new IllegalArgumentException("--host " + host + " serves other machines: expected a --token (or "
                        + TOKEN_VARIABLE + "), found none; --no-token serves without one");
            }
            console.say("warning: no token: every machine that reaches " + host + " can use this server");
        }
    }

    private Server.Listener listener() {
        return new Server.Listener(console::say, verbose ? console::say : _ -> {});
    }

    private String address(int listening) {
        String name = host.equals("0.0.0.0") || host.equals("::") ? ServeOptions.DEFAULT_HOST : host;
        return "http://" + (name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name) + ":" + listening
                + "/";
    }
}
