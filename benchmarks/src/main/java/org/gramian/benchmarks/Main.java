package org.gramian.benchmarks;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The command {@code benchmarks/run}: measures, prints a table, writes it as JSON or Markdown. */
@Command(
        name = "benchmarks/run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Measures Gramian against PyTorch in Python, in turns, and the matrix form of the kernel against the"
                        + " paper's double loop.",
        footer = "%nExit code: 0 measured, 1 failed or the sides disagree, 2 wrong arguments.")
final class Main implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description = "head, vgg-forward, vgg-training, definition, pictures")
    private List<String> only =
            Arrays.stream(Workload.values()).map(Workload::text).toList();

    @Option(names = "--repeat", paramLabel = "N", description = "timed runs of each side (default: ${DEFAULT-VALUE})")
    private int repeat = 7;

    @Option(names = "--warmup", paramLabel = "N", description = "runs before them (default: ${DEFAULT-VALUE})")
    private int warmup = 2;

    @Option(names = "--threads", paramLabel = "N", description = "of both sides (default: all ${DEFAULT-VALUE} cores)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--device", paramLabel = "DEVICE", description = "cpu or cuda, of both sides (default: cpu)")
    private String device = "cpu";

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "pictures at once (default: 32 for the head, 8 for VGG-16)")
    private @Nullable Integer batch;

    @Option(names = "--size", paramLabel = "SIZE", description = "full, or tiny to try it out (default: full)")
    private Size size = Size.FULL;

    @Option(
            names = "--python",
            paramLabel = "COMMAND",
            description =
                    "an interpreter that has torch, or none (default: GRAMIAN_PYTHON, else the first of python3 and"
                            + " /usr/bin/python3 that has it)")
    private @Nullable String python = System.getenv("GRAMIAN_PYTHON");

    @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
    private @Nullable Path json;

    @Option(names = "--markdown", paramLabel = "FILE", description = "write the results as Markdown")
    private @Nullable Path markdown;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setExecutionExceptionHandler((failed, command, _) -> {
            command.getErr().println("benchmarks: " + failed.getMessage());
            return 1;
        });
        return line;
    }

    @Override
    public Integer call() throws IOException {
        List<Workload> workloads = workloads();
        if (repeat < 1 || warmup < 0 || threads < 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--repeat and --threads must be at least 1, --warmup at least 0");
        }
        Optional<PythonTorch> torch = python();
        List<Comparison> comparisons = new ArrayList<>();
        for (Workload workload : workloads) {
            TaskSpec task = workload.spec(size, batch)
                    .with(Map.of("threads", "" + threads))
                    .with(Map.of("device", device));
            Comparison.Repeats repeats = new Comparison.Repeats(warmup, repeat);
            comparisons.add(Comparison.measure(workload, task, sides(workload, torch), repeats, this::progress));
        }
        write(Report.of(settings(torch), comparisons));
        return 0;
    }

    private List<Workload> workloads() {
        try {
            return only.stream().map(Workload::parse).toList();
        } catch (IllegalArgumentException unknown) {
            throw new CommandLine.ParameterException(spec.commandLine(), unknown.getMessage(), unknown);
        }
    }

    private static List<Side> sides(Workload workload, Optional<PythonTorch> torch) {
        if (workload == Workload.DEFINITION) {
            return List.of(
                    new Side.Java("matrix form", workload.text()), new Side.Java("double loop", KernelLoopTask.NAME));
        }
        List<Side> sides = new ArrayList<>(List.of(new Side.Java("Gramian", workload.text())));
        torch.filter(_ -> workload != Workload.PICTURES).ifPresent(python -> sides.add(new Side.Python(python)));
        return sides;
    }

    /** The worker's script lies beside the sources; benchmarks/run says where. */
    private Optional<PythonTorch> python() {
        String script = System.getProperty("gramian.benchmarks.worker", "src/main/python/worker.py");
        if ("none".equals(python)) {
            return Optional.empty();
        }
        Optional<PythonTorch> found = PythonTorch.find(python, Path.of(script));
        if (found.isEmpty()) {
            progress("no Python with torch was found (tried "
                    + (python == null ? String.join(", ", PythonTorch.USUAL) : python)
                    + "): Gramian is measured alone. On Debian: apt install python3-torch libopenblas0-pthread;"
                    + " or name one by GRAMIAN_PYTHON.");
        }
        return found;
    }

    private SequencedMap<String, String> settings(Optional<PythonTorch> torch) {
        SequencedMap<String, String> settings = new LinkedHashMap<>();
        if (torch.isEmpty()) {
            settings.put("Python", "not compared: no interpreter with torch");
        }
        settings.put("threads of each side", "" + threads);
        settings.put("device", device);
        settings.put("runs", repeat + " timed, " + warmup + " before them, sides in turns");
        settings.put("date", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        return settings;
    }

    private void progress(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }

    private void write(Report report) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.print(Layout.columns(report));
        out.flush();
        if (json != null) {
            JsonMapper mapper = JsonMapper.builder()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .build();
            Files.writeString(json, mapper.writeValueAsString(report.tree()) + "\n");
        }
        if (markdown != null) {
            Files.writeString(markdown, Layout.markdown(report));
        }
    }
}
