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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.gramian.basis.QuotedText;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;

/**
 * A model behind HTTP, from its start to its end.
 *
 * <p>Requests are read by virtual threads, which cost little while they wait; images are decoded by a few threads and
 * computed by one, in batches of whatever waits. {@link #reload} puts another model in place between two requests. {@link
 * #close} lets the requests that were taken on end, and refuses others meanwhile.
 */
public final class Server implements AutoCloseable {
    private static final int MOST_CONNECTIONS = 1_024;
    private static final int LONGEST_HEADERS = 16 << 10;
    /** How long an end waits, once requests are answered or given up, for each thing that should be done at once. */
    private static final Duration LAST = Duration.ofSeconds(2);

    private final ServeOptions options;
    private final Voice voice;
    private final ModelSlot slot;
    private final Admission admission;
    private final Meters meters;
    private final Batcher batcher;
    private final Pipeline pipeline;
    private final Reloading reloading;
    private final Javalin javalin;

    /**
     * What a server says while it runs.
     *
     * @param events rare things, as another model
     * @param requests a line for each request
     */
    public record Voice(Consumer<String> events, Consumer<String> requests) {
        /** Says nothing. */
        public static final Voice SILENT = new Voice(_ -> {}, _ -> {});
    }

    private Server(ServeOptions options, ModelSource source, Voice voice) throws IOException {
        this.options = options;
        this.voice = voice;
        Limits limits = options.limits();
        this.admission = new Admission(limits);
        this.meters = new Meters(admission);
        this.reloading = new Reloading(source, meters, voice.events());
        this.slot = reloading.slot();
        WorkQueue queue = new WorkQueue(limits.load().batch());
        this.batcher = new Batcher(queue, this::computed);
        ImageLimits images =
                new ImageLimits(limits.upload().bytes(), limits.upload().pixels());
        this.pipeline = new Pipeline(queue, limits.load(), new ImageReader(images)::read);
        this.javalin = Javalin.create(this::configure);
    }

    /**
     * Loads the model and starts to answer.
     *
     * @throws IOException if there is no model that can be used, or the address cannot be listened at
     */
    public static Server start(ServeOptions options, ModelSource source, Voice voice) throws IOException {
        Server server = new Server(options, source, voice);
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

    /** Asked first: of a wrong address the web server would say something on its own, and no reason. */
    private static void requireFree(ServeOptions options) throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(options.host(), options.port()));
        }
    }

    /**
     * Starts to answer with a model that is in memory already; says nothing.
     *
     * @param model taken over, and freed in the end
     * @throws IOException if the address cannot be listened at
     */
    public static Server start(ServeOptions options, LoadedModel model) throws IOException {
        return start(options, ModelSource.of(model), Voice.SILENT);
    }

    private static String reason(Throwable failed) {
        Throwable cause = failed;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }

    private void computed(int images, int crops, Duration time) {
        admission.computed(images, time);
        meters.computed(crops, time);
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.concurrency.useVirtualThreads = true;
        config.http.maxRequestSize = options.limits().upload().bytes();
        config.requestLogger.http(this::answered);
        config.jetty.modifyHttpConfiguration(Server::configure);
        config.jetty.modifyServer(server -> {
            server.addBean(new NetworkConnectionLimit(MOST_CONNECTIONS, server));
            server.setErrorHandler(new Problems.JettyErrors());
            // Stopping waits until short answers are written, which is after our part of them is done.
            server.setHandler(new GracefulHandler());
            server.setStopTimeout(LAST.toMillis());
        });
        config.jetty.modifyServletContextHandler(handler -> handler.setErrorHandler(new Problems.JettyErrors()));
        config.router.javaLangErrorHandler(Problems::fatal);
        routes(config.routes);
    }

    private static void configure(HttpConfiguration http) {
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(LONGEST_HEADERS);
        http.setIdleTimeout(Body.SILENCE.toMillis());
    }

    private void answered(Context context, float millis) {
        meters.answered(context, Duration.ofNanos((long) (millis * TimeUnit.MILLISECONDS.toNanos(1))));
        voice.requests()
                .accept(QuotedText.visible(context.req().getMethod() + " " + context.path()) + " "
                        + context.status().getCode() + " " + Math.round(millis) + " ms");
    }

    private void routes(RoutesConfig routes) {
        Api api = new Api(slot, admission, pipeline, options.limits(), meters);
        routes.before(new RequestGuard(options)::check);
        routes.before(Addresses::check);
        routes.post(Addresses.PREDICT, api::predict);
        routes.post(Addresses.EMBED, api::embed);
        read(routes, Addresses.MODEL, api::model);
        read(routes, Addresses.HEALTH, this::health);
        read(routes, Addresses.METRICS, meters::answer);
        read(routes, Addresses.OPENAPI, WebFiles::document);
        read(routes, "/", WebFiles::answer);
        read(routes, "/<name>", WebFiles::answer);
        Problems.handle(routes);
    }

    /** GET, and HEAD with the same headers: Javalin alone would answer that with none, and 200 whatever is asked for. */
    private static void read(RoutesConfig routes, String address, Handler handler) {
        routes.get(address, handler);
        routes.head(address, context -> {
            handler.handle(context);
            InputStream answer = context.resultInputStream();
            // What is compressed has another length, which is known when it is done.
            if (answer != null && context.header("Accept-Encoding") == null) {
                context.header("Content-Length", Integer.toString(answer.available()));
            }
        });
    }

    /** Whether it is worth asking: not when nobody would be answered. */
    private void health(Context context) throws HttpError {
        if (admission.isClosed()) {
            throw HttpError.stopping();
        }
        if (!batcher.isAlive()) {
            throw new HttpError(503, "broken", "the server can no longer run the model; see its log and restart it");
        }
        Json.answer(context, Json.object().put("status", "ok"));
    }

    /** Where it listens. */
    public int port() {
        return javalin.port();
    }

    /** Loads the model's file again, and answers with it from then on, if it can be used. */
    public void reload() {
        reloading.ask();
    }

    /**
     * Takes no more requests, answers those that it has, and ends. What cannot be waited for is left to threads that do not keep
     * the program alive; their leases keep the model.
     */
    @Override
    public void close() {
        boolean complete = admission.drain(options.limits().load().grace());
        if (!complete) {
            voice.events().accept("some requests did not finish in time and were aborted");
            javalin.jettyServer().server().setStopTimeout(0); // which would wait for the same requests again
        }
        try {
            javalin.stop();
        } catch (JavalinException slow) {
            voice.events().accept("some responses were not read in time and were aborted");
        }
        reloading.close(LAST);
        pipeline.close(LAST);
        batcher.close(LAST);
        slot.close();
        meters.close();
    }
}
