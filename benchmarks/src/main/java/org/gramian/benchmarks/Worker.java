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
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Scope;
import tools.jackson.databind.json.JsonMapper;

/**
 * The process of one side in Java: says what it is, then answers {@code check}, {@code run} and {@code quit}.
 *
 * <p>Commands come as lines on standard input, answers go as lines of JSON to standard output; {@code worker.py} speaks
 * the same way.
 */
final class Worker {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final TaskSpec spec;
    private final PrintStream out;

    private Worker(TaskSpec spec, PrintStream out) {
        this.spec = spec;
        this.out = out;
    }

    /** Arguments: the words of a {@link TaskSpec}. */
    public static void main(String[] arguments) throws IOException {
        new Worker(TaskSpec.parse(List.of(arguments)), System.out).serve();
    }

    private void serve() throws IOException {
        Libtorch libtorch = Libtorch.load();
        libtorch.setThreads(spec.number("threads"));
        libtorch.setTf32(false); // both sides compute in full single precision
        Device device = spec.device();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Scope _ = Scope.open();
                Task task = Workload.open(spec)) {
            say(about(libtorch));
            String command = in.readLine();
            while (command != null && !command.equals("quit")) {
                switch (command) {
                    case "check" -> say(task.check());
                    case "run" -> say(Map.of("seconds", seconds(task, device)));
                    default -> throw new IllegalArgumentException("check, run or quit is wanted, found " + command);
                }
                command = in.readLine();
            }
        }
    }

    private static double seconds(Task task, Device device) {
        long start = System.nanoTime();
        for (int i = 0; i < task.operations(); i++) {
            task.run();
        }
        Libtorch.load().synchronize(device);
        return (System.nanoTime() - start) / 1e9 / task.operations();
    }

    private static SequencedMap<String, String> about(Libtorch libtorch) {
        SequencedMap<String, String> about = new LinkedHashMap<>();
        about.put("torch", libtorch.version());
        about.put("runtime", "Java " + Runtime.version());
        about.put("threads", "" + libtorch.threads());
        return about;
    }

    private void say(Map<String, ?> answer) {
        out.println(JSON.writeValueAsString(answer));
        out.flush();
    }
}
