package org.gramian.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
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
 * Process of one side in Java. Prints its versions, then executes {@code check}, {@code run STEPS}, {@code trajectory STEPS},
 * {@code memory} and {@code quit}.
 *
 * <p>Reads commands as lines from standard input, writes results as lines of JSON to standard output; {@code worker.py} has the
 * same protocol.
 */
final class BenchWorker {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final TaskSpec spec;
    private final PrintStream out;
    private final Device device;
    private final GpuMemory memory;

    private BenchWorker(TaskSpec spec, PrintStream out) {
        this.spec = spec;
        this.out = out;
        Libtorch libtorch = Libtorch.load();
        libtorch.setThreads(spec.number("threads"));
        boolean tf32 = spec.precision() != Precision.F32;
        GpuMath math = GpuMath.DEFAULT.withTf32(tf32);
        boolean predicts = spec.name().startsWith("prediction"); // as the command does it
        libtorch.setMath(predicts ? math : math.withTrials());
        this.device = spec.device();
        this.memory = new GpuMemory(device);
    }

    /** Runs the worker; the arguments are the words of a {@link TaskSpec}. */
    public static void main(String[] arguments) throws IOException {
        new BenchWorker(TaskSpec.parse(List.of(arguments)), System.out).serve();
    }

    private void serve() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Scope _ = Scope.open();
                Task task = memory.during(() -> BenchWorkload.open(spec))) {
            say(about());
            String line = in.readLine();
            while (line != null && !line.equals("quit")) {
                String[] words = line.split(" ", 2);
                int steps = words.length > 1 ? Integer.parseInt(words[1]) : 1;
                say(memory.during(() -> answer(task, words[0], steps)));
                line = in.readLine();
            }
        }
    }

    private Map<String, ?> answer(Task task, String command, int steps) {
        return switch (command) {
            case "check" -> task.check();
            case "run" -> Map.of("seconds", seconds(task, steps));
            case "trajectory" -> Map.of("losses", task.trajectory(steps));
            case "memory" ->
                memory.peak().isPresent() ? Map.of("gpu", memory.peak().getAsLong()) : Map.of();
            default ->
                throw new IllegalArgumentException("expected check, run, trajectory, memory or quit, found " + command);
        };
    }

    /** Returns the seconds of one step, averaged over steps without synchronization between them. */
    private double seconds(Task task, int steps) {
        device.synchronize();
        long start = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            task.run();
        }
        device.synchronize();
        return (System.nanoTime() - start) / 1e9 / steps;
    }

    private static SequencedMap<String, String> about() {
        SequencedMap<String, String> about = new LinkedHashMap<>();
        about.put("torch", Libtorch.load().version());
        about.put("runtime", "Java " + Runtime.version());
        about.put("threads", "" + Libtorch.load().threads());
        return about;
    }

    private void say(Map<String, ?> answer) {
        out.println(JSON.writeValueAsString(answer));
        out.flush();
    }

    /**
     * Peak GPU memory of this process without the CUDA context: the summed growth of the memory in use while it works.
     *
     * <p>Only one worker runs at a time, so the growth is its own. libtorch caches freed memory, so a peak between two readings is
     * missed only if the cache was freed, as both sides do before they capture a CUDA graph of the same work. {@code worker.py}
     * measures the same way.
     */
    private static final class GpuMemory {
        private final boolean known;
        private long own;
        private long peak;

        GpuMemory(Device device) {
            known = device.kind() == Device.Kind.CUDA
                    && Libtorch.load().cudaMemoryInUse().isPresent();
            if (known) {
                Tensors.zeros(Shape.of(1), DType.F32, device).close(); // creates the CUDA context
            }
        }

        /** Runs work and adds the growth. */
        <R> R during(Supplier<R> work) {
            long before = inUse();
            R result = work.get();
            own += inUse() - before;
            peak = Math.max(peak, own);
            return result;
        }

        private long inUse() {
            return known ? Libtorch.load().cudaMemoryInUse().orElse(0L) : 0;
        }

        /** Returns the peak in bytes; empty on the CPU. */
        OptionalLong peak() {
            return known ? OptionalLong.of(peak) : OptionalLong.empty();
        }
    }
}
