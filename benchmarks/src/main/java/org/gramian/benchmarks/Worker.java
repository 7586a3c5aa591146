package org.gramian.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import tools.jackson.databind.json.JsonMapper;

/**
 * Process of Gramian in a comparison. Its argument is a {@link Task} as JSON. It prints its versions, then executes {@code check},
 * {@code run STEPS}, {@code losses STEPS}, {@code memory} and {@code quit}.
 *
 * <p>Commands are lines of standard input, results lines of JSON on standard output; {@code worker.py} has the same protocol.
 */
final class Worker {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Task task;
    private final Libtorch libtorch = Libtorch.load();
    private final Device device;

    /**
     * Memory of the GPU used by this process without the CUDA context: the summed growth of the memory in use while it works.
     *
     * <p>Only one worker runs at a time, so the growth is its own. libtorch caches freed memory, so a peak between two readings is
     * missed only if the cache was freed, as both sides do before they capture a CUDA graph.
     */
    private long gpuMemory;

    private long gpuPeak;

    private Worker(Task task) {
        this.task = task;
        libtorch.setThreads(task.threads());
        libtorch.setMath(
                GpuMath.DEFAULT.withTf32(!task.precision().equals("f32")).withTrials());
        device = task.torchDevice();
        Tensors.zeros(Shape.of(1), DType.F32, device).close(); // creates the CUDA context
    }

    public static void main(String[] arguments) throws IOException {
        try {
            new Worker(JSON.readValue(arguments[0], Task.class)).serve();
        } catch (IllegalArgumentException unusable) {
            say(Map.of("unavailable", String.valueOf(unusable.getMessage())));
        }
    }

    private void serve() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Scope _ = Scope.open();
                Work work = measured(() -> Work.of(task))) {
            say(Map.of("version", "Java " + Runtime.version() + ", libtorch " + libtorch.version()));
            String line = in.readLine();
            while (line != null && !line.equals("quit")) {
                String[] words = line.split(" ", 2);
                say(measured(() -> answer(work, words[0], words.length > 1 ? Integer.parseInt(words[1]) : 1)));
                line = in.readLine();
            }
        }
    }

    private Map<String, ?> answer(Work work, String command, int steps) {
        return switch (command) {
            case "check" -> work.check();
            case "run" -> Map.of("seconds", seconds(work, steps));
            case "losses" -> Map.of("losses", work.losses(steps));
            case "memory" -> device.kind() == Device.Kind.CUDA ? Map.of("gpu", gpuPeak) : Map.of();
            default -> throw new IllegalArgumentException("unknown command " + command);
        };
    }

    /** Returns the seconds of one step, averaged over steps without synchronization between them. */
    private double seconds(Work work, int steps) {
        device.synchronize();
        long start = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            work.run();
        }
        device.synchronize();
        return (System.nanoTime() - start) / 1e9 / steps;
    }

    private <R> R measured(Supplier<R> work) {
        long before = memoryInUse();
        R result = work.get();
        gpuMemory += memoryInUse() - before;
        gpuPeak = Math.max(gpuPeak, gpuMemory);
        return result;
    }

    private long memoryInUse() {
        return device.kind() == Device.Kind.CUDA ? libtorch.cudaMemoryInUse().orElse(0L) : 0;
    }

    private static void say(Map<String, ?> answer) {
        System.out.println(JSON.writeValueAsString(answer));
        System.out.flush();
    }
}
