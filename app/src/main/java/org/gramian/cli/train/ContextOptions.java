package org.gramian.cli.train;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.TorchOptions;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.TrainingContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every command that trains: checkpoints, decoding threads, determinism. */
final class ContextOptions {
    @Option(
            names = "--keep-every",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "time between checkpoints (default: 1m)")
    private @Nullable Duration keepEvery;

    @Option(
            names = {"--decode-threads", "--workers"},
            paramLabel = "N",
            description = "worker threads that decode images (default: all cores)")
    private @Nullable Integer threads;

    @Option(names = "--deterministic", description = "bit-identical results on a GPU; slower")
    private boolean deterministic;

    /** Returns the time between checkpoints. */
    Duration keepEvery() {
        return Objects.requireNonNullElse(keepEvery, Checkpointing.DEFAULT_INTERVAL);
    }

    int threads() {
        return Objects.requireNonNullElseGet(threads, () -> Runtime.getRuntime().availableProcessors());
    }

    /** Loads libtorch, makes it deterministic if requested, and returns the device. */
    Device prepare(TorchOptions torch) {
        if (threads() < 1) {
            throw new IllegalArgumentException("--decode-threads: expected at least 1, found " + threads());
        }
        Device device = torch.prepare();
        if (deterministic) {
            Libtorch.load().setMath(GpuMath.EXACT);
        }
        return device;
    }

    TrainingContext context(Device device, Consumer<TrainEvent> listener, Cancellation cancellation) {
        return TrainingContext.of(device)
                .withThreads(threads())
                .withListener(listener)
                .withCancellation(cancellation)
                .withCheckpointing(Checkpointing.every(keepEvery()));
    }
}
