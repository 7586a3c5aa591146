package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import org.gramian.anomaly.DetectorCard;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Interruption;
import org.gramian.export.OpenDetector;
import org.gramian.model.OpenSet;
import org.gramian.serve.LoadedModel;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.ServeOptions.Limits;
import org.gramian.serve.Server;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian serve}: a model behind HTTP, with a page for people. */
@Command(name = "serve", header = "Serve a model over HTTP, with a web page.", description = """
                Endpoints: POST /v1/predict and /v1/embed, GET /v1/model, /health, /metrics and /openapi.json, and a web page
                at / to drop or paste images. Concurrent requests are batched. Ctrl-C or SIGTERM: finishes accepted requests
                and exits. A changed model file is reloaded without downtime.""")
public final class ServeCommand extends ConsoleCommand {
    private static final String TOKEN_VARIABLE = "GRAMIAN_TOKEN";
    private static final String DEFAULT = " (default: ${DEFAULT-VALUE})";

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            defaultValue = ServeOptions.DEFAULT_HOST,
            description = "address to listen on, e.g. 0.0.0.0 for all (default: ${DEFAULT-VALUE}, local only)")
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

    @Option(
            names = "--false-alarms",
            paramLabel = "RATE",
            description = "largest share of good images that a detector calls anomalous (default: that of the model)")
    private @Nullable Double falseAlarms;

    @Option(
            names = "--unknown",
            paramLabel = "RATE",
            description =
                    "share of images of known classes that a classifier calls unknown, as images of no class are (default: that of the model)")
    private @Nullable Double unknown;

    @Option(names = "--verbose", description = "log every request")
    private boolean verbose;

    @Option(
            names = "--max-body",
            paramLabel = "MB",
            defaultValue = "20",
            description = "maximum megabytes of a request" + DEFAULT)
    private int body;

    @Option(
            names = "--max-images",
            paramLabel = "N",
            defaultValue = "32",
            description = "maximum images of a request" + DEFAULT)
    private int images;

    @Option(
            names = "--max-pixels",
            paramLabel = "MP",
            defaultValue = "50",
            description = "maximum megapixels of an image" + DEFAULT)
    private int pixels;

    @Option(
            names = "--queue",
            paramLabel = "N",
            defaultValue = "256",
            description = "maximum queued images; further requests get HTTP 429" + DEFAULT)
    private int queue;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            defaultValue = "16",
            description = "maximum batch size" + DEFAULT)
    private int batch;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "timeout for reading a request, for the response, and for shutdown" + DEFAULT)
    private int seconds;

    @Option(
            names = "--client-connections",
            paramLabel = "N",
            defaultValue = "256",
            description = "maximum open connections of a client address; behind a reverse proxy all clients have the"
                    + " address of the proxy: use 1024 there" + DEFAULT)
    private int clientConnections;

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        ServeOptions options = new ServeOptions(host, port, token(), limits());
        check(options);
        Path model = engine.model();
        if (falseAlarms != null) {
            DetectorCommands.requireDetector(model);
            DetectorCard.requireRate(falseAlarms);
        }
        if (unknown != null) {
            OpenSet.requireRate(unknown);
            if (OpenDetector.isDetector(model)) {
                throw new IllegalArgumentException("--unknown is for classifiers, found "
                        + DetectorCommands.describe(model) + "; set --false-alarms");
            }
        }
        Double rate = falseAlarms == null ? unknown : falseAlarms;
        LoadedModel.Source source = LoadedModel.Source.of(
                model,
                engine.request().withGradients(),
                rate == null ? OptionalDouble.empty() : OptionalDouble.of(rate));
        CountDownLatch requested = new CountDownLatch(1);
        try (Interruption _ = new Interruption(
                        requested::countDown, "interrupted; finishing accepted requests", console::say);
                Server server = Server.start(
                        options, source, new Server.Listener(console::say, verbose ? console::say : _ -> {}))) {
            console.say("serving at " + address(server.port()) + "; stop with Ctrl-C");
            requested.await();
        }
        return ExitCode.DONE;
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

    private String address(int listening) {
        String name = host.equals("0.0.0.0") || host.equals("::") ? ServeOptions.DEFAULT_HOST : host;
        return "http://" + (name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name) + ":" + listening
                + "/";
    }

    private Limits limits() {
        require("--max-body", body, 2000);
        require("--max-images", images, 10_000);
        require("--max-pixels", pixels, 700);
        require("--queue", queue, 1_000_000);
        require("--batch", batch, 4096);
        require("--timeout", seconds, 86_400);
        require("--client-connections", clientConnections, 1_000_000);
        Duration time = Duration.ofSeconds(seconds);
        return new Limits(
                new Limits.Upload(body * 1_000_000, images, pixels * 1_000_000L, time),
                new Limits.Load(queue, batch, time, time),
                new Limits.Connections(clientConnections, Limits.Connections.DEFAULT.header()));
    }

    private static void require(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(option + ": expected 1 to " + most + ", found " + value);
        }
    }
}
