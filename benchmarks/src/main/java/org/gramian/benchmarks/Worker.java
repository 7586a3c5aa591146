package org.gramian.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.tensor.Device;
import org.gramian.tensor.GpuMath;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Scope;
import tools.jackson.databind.json.JsonMapper;

/**
 * The process of one side in Java: says what it is, then answers {@code check}, {@code run STEPS}, {@code trajectory
 * STEPS}, {@code memory} and {@code quit}.
 *
 * <p>Commands come as lines on standard input, answers go as lines of JSON to standard output; {@code worker.py} speaks
 * the same way.
 */
final class Worker {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final TaskSpec spec;
    private final PrintStream out;
    private final Device device;
    private final GpuMemory memory;

    private Worker(TaskSpec spec, PrintStream out) {
        this.spec = spec;
        this.out = out;
        Libtorch libtorch = Libtorch.load();
        libtorch.setThreads(spec.number("threads"));
        boolean tf32 = Precision.parse(spec.text("precision")) != Precision.F32;
        GpuMath math = GpuMath.USUAL.withTf32(tf32);
        boolean predicts = spec.name().startsWith("prediction"); // as the command does it
        libtorch.setMath(predicts ? math : math.withTrials());
        this.device = spec.device();
        this.memory = new GpuMemory(device);
    }

    /** Arguments: the words of a {@link TaskSpec}. */
    public static void main(String[] arguments) throws IOException {
        new Worker(TaskSpec.parse(List.of(arguments)), System.out).serve();
    }

    private void serve() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Scope _ = Scope.open();
                Task task = memory.during(() -> Workload.open(spec))) {
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

    /** Seconds of one step, when so many are taken between two waits for the device. */
    private double seconds(Task task, int steps) {
        Libtorch.load().synchronize(device);
        long start = System.nanoTime();
        for (int i = 0; i < steps; i++) {
            task.run();
        }
        Libtorch.load().synchronize(device);
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
}
