package org.gramian.serve;

import io.javalin.http.Context;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Metrics for Prometheus. */
final class Meters implements AutoCloseable {
    private static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final Path MEMORY = Path.of("/proc/self/statm");
    private static final long PAGE_BYTES = 4096;
    private static final Duration[] LATENCIES = {
        Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofMillis(100),
        Duration.ofMillis(200), Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofSeconds(2),
        Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(30)
    };
    private static final double[] CROPS = {1, 2, 4, 8, 16, 32, 64, 128};
    private static final double[] PERCENTS = {1, 5, 10, 25, 50, 75, 100};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collection = new JvmGcMetrics();
    private final DistributionSummary batches;
    private final Timer computing;
    private final Timer explaining;
    private final DistributionSummary pValues;

    Meters(Admission admission) {
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        collection.bindTo(registry);
        Gauge.builder("gramian.images.waiting", admission, Admission::queued)
                .description("images in the queue or in progress")
                .register(registry);
        if (Files.isReadable(MEMORY)) {
            Gauge.builder("process.resident.memory", Meters::resident)
                    .baseUnit("bytes")
                    .description("resident memory of the process, including libtorch")
                    .register(registry);
        }
        batches = DistributionSummary.builder("gramian.batch.crops")
                .description("crops per batch")
                .serviceLevelObjectives(CROPS)
                .register(registry);
        computing = Timer.builder("gramian.batch.time")
                .description("inference time per batch")
                .serviceLevelObjectives(LATENCIES)
                .register(registry);
        explaining = Timer.builder("gramian.explanation.time")
                .description("time per explanation")
                .serviceLevelObjectives(LATENCIES)
                .register(registry);
        pValues = DistributionSummary.builder("gramian.p.value")
                .baseUnit("percent")
                .scale(100) // buckets have whole numbers
                .description("p-values of images; uniform for images like the training images")
                .serviceLevelObjectives(PERCENTS)
                .register(registry);
    }

    /** Adds the drift of the current model; NaN if it has none. */
    void drift(Supplier<Optional<Drift.State>> state) {
        drift(
                "distance",
                "largest difference of the p-values of recent images from uniform ones",
                state,
                one -> one.distance());
        drift("limit", "drift distance that images like the training images rarely exceed", state, one -> one.limit());
        drift("images", "number of recent images that are compared", state, one -> one.images());
    }

    private void drift(
            String name, String about, Supplier<Optional<Drift.State>> state, ToDoubleFunction<Drift.State> value) {
        Gauge.builder(
                        "gramian.drift." + name,
                        () -> state.get().map(value::applyAsDouble).orElse(Double.NaN))
                .description(about)
                .register(registry);
    }

    void pValue(double value) {
        pValues.record(value);
    }

    private static double resident() {
        try {
            return PAGE_BYTES * Double.parseDouble(Files.readString(MEMORY).split(" ", -1)[1]);
        } catch (IOException _) {
            return Double.NaN;
        }
    }

    void computed(int crops, Duration time) {
        batches.record(crops);
        computing.record(time);
    }

    void explained(Duration time) {
        explaining.record(time);
    }

    void images(int readable, int unreadable) {
        registry.counter("gramian.images", "outcome", "answered").increment(readable);
        registry.counter("gramian.images", "outcome", "unreadable").increment(unreadable);
    }

    void answered(Context context, Duration time) {
        Timer.builder("gramian.http.requests")
                .description("requests by path and status")
                .tag("route", RequestGuard.route(context.path()))
                .tag("status", Integer.toString(context.status().getCode()))
                .serviceLevelObjectives(LATENCIES)
                .register(registry)
                .record(time);
    }

    void reloaded(boolean sound) {
        registry.counter("gramian.model.loads", "outcome", sound ? "loaded" : "refused")
                .increment();
    }

    void answer(Context context) {
        context.contentType(TYPE).result(registry.scrape());
    }

    @Override
    public void close() {
        collection.close();
        registry.close();
    }
}
