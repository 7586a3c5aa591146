package org.gramian.cli;

import java.nio.file.Path;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every command that computes: which libtorch, where, with how many threads. */
final class TorchOptions {
    @Option(
            names = "--libtorch",
            paramLabel = "DIR",
            description = "folder of an installed PyTorch (its torch/lib), instead of the built-in libtorch")
    private @Nullable Path libtorch;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description = "cpu, cuda, cuda:<number> or auto (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String device;

    @Option(names = "--threads", paramLabel = "N", description = "threads of one operator (default: all cores)")
    private @Nullable Integer threads;

    /** Threads of one operator, 0 where nothing was said. */
    int threads() {
        if (threads != null && threads < 1) {
            throw new IllegalArgumentException("the number of threads must be at least 1, found " + threads);
        }
        return threads == null ? 0 : threads;
    }

    /** Loads libtorch as told and gives the device. */
    Device prepare() {
        if (libtorch != null) {
            System.setProperty("gramian.libtorch", libtorch.toString());
        }
        if (threads != null) {
            Libtorch.load().setThreads(threads);
        }
        return Device.parse(device);
    }
}
