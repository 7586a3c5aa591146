package org.gramian.cli.common;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.accelerate.Rule;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every command that computes: libtorch, device, threads. */
public final class TorchOptions {
    @Option(
            names = "--libtorch",
            paramLabel = "DIR",
            description = "libtorch of an installed PyTorch (its torch/lib) instead of the built-in one")
    private @Nullable Path libtorch;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description = "device: cpu, cuda, cuda:<number> or auto (default: ${DEFAULT-VALUE})")
    private String device;

    @Option(names = "--threads", paramLabel = "N", description = "CPU threads per operator (default: all cores)")
    private @Nullable Integer threads;

    @Option(
            names = "--accelerate",
            paramLabel = "RULES",
            description =
                    "on; off: compute everything by plain layers, for comparison; or rules to leave out, e.g. -stem,-tokens")
    private @Nullable String accelerate;

    /** Returns the number of threads per operator, 0 if unset. */
    public int threads() {
        if (threads != null && threads < 1) {
            throw new IllegalArgumentException("--threads: expected at least 1, found " + threads);
        }
        return threads == null ? 0 : threads;
    }

    /** Returns the rules of {@code --accelerate}. */
    public Optional<String> accelerate() {
        return Optional.ofNullable(accelerate);
    }

    /** Returns the device; loads libtorch only if it may have to look for a GPU. */
    Device device() {
        if (libtorch != null) {
            System.setProperty("gramian.libtorch", libtorch.toString());
        }
        return Device.parse(device);
    }

    /** Sets up libtorch and returns the device. */
    public Device prepare() {
        Device chosen = device();
        if (accelerate != null) {
            Rule.use(accelerate);
        }
        if (threads != null) {
            Libtorch.load().setThreads(threads);
        }
        return chosen;
    }
}
