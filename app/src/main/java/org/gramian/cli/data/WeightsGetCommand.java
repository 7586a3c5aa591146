package org.gramian.cli.data;

import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.WeightsOptions;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.gramian.backbone.weights.Download;
import org.gramian.backbone.weights.PublicFile;
import org.gramian.backbone.weights.WeightInstaller;
import org.gramian.backbone.weights.WeightName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian weights get}: downloads public weights, verifies and installs them. */
@Command(
        name = "get",
        mixinStandardHelpOptions = true,
        header = "Download pretrained weights and verify them.",
        description = {
            "Resumes an interrupted download. Offline, put the file that 'weights list' names into the folder of weights",
            "and run this again."
        })
final class WeightsGetCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Option(
            names = "--from",
            paramLabel = "URL",
            defaultValue = PublicFile.BASE,
            description = "base URL of a mirror (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private URI base;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "read timeout in seconds (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Parameters(index = "0", paramLabel = "NAME", description = "a name of 'gramian weights list'")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Override
    public Integer call() throws IOException {
        WeightName wanted = WeightName.parse(name);
        if (seconds < 1) {
            throw new IllegalArgumentException("--timeout: expected at least 1, found " + seconds);
        }
        if (base.getScheme() == null || !base.getScheme().matches("https?") || base.getHost() == null) {
            throw new IllegalArgumentException(
                    "--from: expected a URL such as " + PublicFile.BASE + ", found '" + base + "'");
        }
        List<Progress> shown = new ArrayList<>();
        try {
            Download download =
                    new Download(base, Duration.ofSeconds(seconds), total -> progress(total, shown), console::say);
            Path installed = new WeightInstaller(weights.store(), download, console::say).get(wanted);
            console.out().println(installed);
            return ExitCode.DONE;
        } finally {
            shown.forEach(Progress::close);
        }
    }

    private LongConsumer progress(long total, List<Progress> shown) {
        shown.forEach(Progress::close);
        shown.clear();
        Progress progress = console.progress("downloading " + name, Math.max(total, 0));
        shown.add(progress);
        return progress;
    }
}
