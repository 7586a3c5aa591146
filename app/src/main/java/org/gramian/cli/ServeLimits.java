package org.gramian.cli;

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
            description = "most megabytes of one request" + DEFAULT)
    private int body;

    @Option(
            names = "--max-pictures",
            paramLabel = "N",
            defaultValue = "32",
            description = "most images of one request" + DEFAULT)
    private int pictures;

    @Option(
            names = "--max-pixels",
            paramLabel = "MP",
            defaultValue = "50",
            description = "most megapixels of one image" + DEFAULT)
    private int pixels;

    @Option(
            names = "--queue",
            paramLabel = "N",
            defaultValue = "256",
            description =
                    "most images that wait for their answer; those who come then are told to come later" + DEFAULT)
    private int queue;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            defaultValue = "16",
            description = "most crops that are computed together" + DEFAULT)
    private int batch;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description =
                    "longest for a request to arrive, for its answer, and for the last answers at the end" + DEFAULT)
    private int seconds;

    Limits limits() {
        require("--max-body", body, 2000);
        require("--max-pictures", pictures, 10_000);
        require("--max-pixels", pixels, 700);
        require("--queue", queue, 1_000_000);
        require("--batch", batch, 4096);
        require("--timeout", seconds, 86_400);
        Duration time = Duration.ofSeconds(seconds);
        return new Limits(
                new Limits.Upload(body * 1_000_000, pictures, pixels * 1_000_000L, time),
                new Limits.Load(queue, batch, time, time));
    }

    private static void require(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(option + " is a number from 1 to " + most + ", found " + value);
        }
    }
}
