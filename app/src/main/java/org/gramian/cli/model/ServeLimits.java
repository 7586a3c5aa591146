package org.gramian.cli.model;

import java.time.Duration;
import org.gramian.serve.Limits;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Options of {@code serve} against requests that are too large, too slow or too many. */
@Command
final class ServeLimits {
    private static final String DEFAULT = " (default: ${DEFAULT-VALUE})";

    @Option(
            names = "--max-body",
            paramLabel = "MB",
            defaultValue = "20",
            description = "maximum megabytes of a request" + DEFAULT)
    private int body;

    @Option(
            names = {"--max-images", "--max-pictures"},
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

    Limits limits() {
        require("--max-body", body, 2000);
        require("--max-images", images, 10_000);
        require("--max-pixels", pixels, 700);
        require("--queue", queue, 1_000_000);
        require("--batch", batch, 4096);
        require("--timeout", seconds, 86_400);
        Duration time = Duration.ofSeconds(seconds);
        return new Limits(
                new Limits.Upload(body * 1_000_000, images, pixels * 1_000_000L, time),
                new Limits.Load(queue, batch, time, time));
    }

    private static void require(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(option + ": expected 1 to " + most + ", found " + value);
        }
    }
}
