package org.gramian.serve;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.util.JavalinException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.gramian.basis.QuotedText;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.jspecify.annotations.Nullable;

/**
 * HTTP server of a model.
 *
 * <p>Virtual threads handle requests, a thread pool decodes images, and one thread computes them in batches. {@link #close}
 * finishes accepted requests and refuses new ones meanwhile.
 */
public final class Server implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 1_024;
    private static final int MAX_HEADERS = 16 << 10;
    /** Timeout of each step of the shutdown after the requests are finished or aborted. */
    static final Duration STOP_TIMEOUT = Duration.ofSeconds(2);

    /** Only names of plain words are looked up in {@code web/} of the jar, so that no path leads elsewhere. */
    private static final Pattern WEB_FILE =
            Pattern.compile("(?:[a-zA-Z0-9_-]{1,40}/){0,3}[a-zA-Z0-9_-]{1,40}\\.[a-z0-9]{1,8}");

    private static final Map<String, String> WEB_TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "json", "application/json",
            "svg", "image/svg+xml",
            "png", "image/png",
            "jpg", "image/jpeg",
            "ico", "image/x-icon",
            "webmanifest", "application/manifest+json");

    private final ServeOptions options;
    private final Listener listener;
    private final ModelSlot slot;
    private final Admission admission;
    private final Meters meters;
    private final ImageReader reader;
    private final Batcher batcher;
    private final Javalin javalin;

    public record Listener(Consumer<String> events, Consumer<String> requests) {
        public static final Listener NONE = new Listener(_ -> {}, _ -> {});
    }

    private Server(ServeOptions options, LoadedModel.Source source, Listener listener) throws IOException {
        this.options = options;
        this.listener = listener;
        ServeOptions.Limits limits = options.limits();
        this.admission = new Admission(limits);
        this.meters = new Meters(admission);
        this.slot = new ModelSlot(source, meters, listener.events());
        meters.drift(slot::drift);
        this.reader = new ImageReader(
                new ImageLimits(limits.upload().bytes(), limits.upload().pixels()));
        this.batcher = new Batcher(
                Runtime.getRuntime().availableProcessors(), limits.load().batch(), reader::read, admission, meters);
        this.javalin = Javalin.create(this::configure);
    }

    public static Server start(ServeOptions options, LoadedModel.Source source, Listener listener) throws IOException {
        Server server = new Server(options, source, listener);
        try {
            requireFree(options);
            server.javalin.start(options.host(), options.port());
            return server;
        } catch (IOException | RuntimeException taken) {
            server.close();
            throw new IOException(
                    "cannot listen at " + options.host() + ", port " + options.port() + ": " + reason(taken)
                            + "; try another --port or --host",
                    taken);
        }
    }

    /** Binds the address once: the exception has a reason, which that of Javalin lacks. */
    private static void requireFree(ServeOptions options) throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(options.host(), options.port()));
        }
    }

    private static String reason(Throwable failed) {
        Throwable cause = failed.getCause();
        return cause == null ? String.valueOf(failed.getMessage()) : reason(cause);
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.concurrency.useVirtualThreads = true;
        config.http.maxRequestSize = options.limits().upload().bytes();
        config.requestLogger.http(this::answered);
        config.jetty.modifyHttpConfiguration(Server::configure);
        config.jetty.modifyServer(server -> {
            server.addBean(new NetworkConnectionLimit(MAX_CONNECTIONS, server));
            server.setErrorHandler(new HttpError.JettyErrors());
            // Stopping waits until short responses are written.
            server.setHandler(new ConnectionGuard(options.limits().connections(), new GracefulHandler()));
            server.setStopTimeout(STOP_TIMEOUT.toMillis());
        });
        config.jetty.modifyServletContextHandler(handler -> handler.setErrorHandler(new HttpError.JettyErrors()));
        config.router.javaLangErrorHandler(HttpError::fatal);
        routes(config.routes);
    }

    private static void configure(HttpConfiguration http) {
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(MAX_HEADERS);
        http.setIdleTimeout(RequestBody.MAX_PAUSE.toMillis());
    }

    private void answered(Context context, float millis) {
        meters.answered(context, Duration.ofNanos((long) (millis * TimeUnit.MILLISECONDS.toNanos(1))));
        listener.requests()
                .accept(QuotedText.visible(context.req().getMethod() + " " + context.path()) + " "
                        + context.status().getCode() + " " + Math.round(millis) + " ms");
    }

    private void routes(RoutesConfig routes) {
        Api api = new Api(slot, admission, reader, batcher, options.limits(), meters);
        routes.before(new RequestGuard(options)::check);
        routes.post(RequestGuard.PREDICT, api::predict);
        routes.post(RequestGuard.EMBED, api::embed);
        read(routes, RequestGuard.MODEL, api::model);
        read(routes, RequestGuard.HEALTH, this::health);
        read(routes, RequestGuard.METRICS, meters::answer);
        read(
                routes,
                RequestGuard.OPENAPI,
                context -> send(context, Api.TYPE, Server.class.getResourceAsStream("openapi.json")));
        read(routes, "/", Server::webFile);
        read(routes, "/<name>", Server::webFile);
        HttpError.handle(routes);
    }

    /** Adds GET, and HEAD with the same status and headers, which Javalin would leave out. */
    private static void read(RoutesConfig routes, String address, Handler handler) {
        routes.get(address, handler);
        routes.head(address, context -> {
            handler.handle(context);
            InputStream body = context.resultInputStream();
            // The length of a compressed response is not known yet.
            if (body != null && context.header("Accept-Encoding") == null) {
                context.header("Content-Length", Integer.toString(body.available()));
            }
        });
    }

    private static void webFile(Context context) throws HttpError, IOException {
        String name = context.path().equals("/") ? "index.html" : context.path().substring(1);
        String type = WEB_TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (!WEB_FILE.matcher(name).matches() || type == null) {
            throw HttpError.notFound();
        }
        context.header("Cache-Control", "no-cache");
        send(context, type, Server.class.getClassLoader().getResourceAsStream("web/" + name));
    }

    private static void send(Context context, String type, @Nullable InputStream resource)
            throws HttpError, IOException {
        try (InputStream file = resource) {
            if (file == null) {
                context.header("Cache-Control", "no-store");
                throw HttpError.notFound();
            }
            context.contentType(type).result(file.readAllBytes());
        }
    }

    private void health(Context context) throws HttpError {
        if (admission.isClosed()) {
            throw HttpError.stopping();
        }
        if (!batcher.isAlive()) {
            throw new HttpError(503, "broken", "the server can no longer run the model; see its log and restart it");
        }
        Api.answer(context, Api.object().put("status", "ok"));
    }

    public int port() {
        return javalin.port();
    }

    /**
     * Accepts no more requests, finishes accepted ones, and stops. Aborted requests are left to daemon threads; their leases
     * keep the model.
     */
    @Override
    public void close() {
        boolean complete = admission.drain(options.limits().load().grace());
        if (!complete) {
            listener.events().accept("some requests did not finish in time and were aborted");
            javalin.jettyServer().server().setStopTimeout(0); // it would wait for the same requests again
        }
        try {
            javalin.stop();
        } catch (JavalinException _) {
            listener.events().accept("some responses were not read in time and were aborted");
        }
        batcher.close(STOP_TIMEOUT);
        slot.close();
        meters.close();
    }
}
