package org.gramian.benchmarks.memory;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.gramian.benchmarks.Machine;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Command {@code benchmarks/memory}: measures the peak memory of every method in its own process. */
@Command(
        name = "benchmarks/memory",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures the peak memory of forward and backward of every method (Linux only).",
        footer = "%nExit code: 0 measured, 1 a method could not be measured, 2 wrong arguments.")
public final class MemoryBenchmark implements Callable<Integer> {
    private static final List<String> HEADINGS =
            List.of("method", "pooling", "descriptor", "parameters, MiB", "peak, MiB", "largest tensor");

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "METHOD",
            description = "methods or poolings (default: all methods)")
    private List<String> only = Methods.names();

    @Option(names = "--batch", paramLabel = "N", description = "batch size (default: ${DEFAULT-VALUE})")
    private int batch = 32;

    @Option(
            names = "--channels",
            paramLabel = "N",
            description = "channels of the features (default: ${DEFAULT-VALUE})")
    private int channels = 512;

    @Option(
            names = "--side",
            paramLabel = "N",
            description =
                    "height and width of the features (default: ${DEFAULT-VALUE}, as of VGG-16 at 448x448 pixels)")
    private int side = 28;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "CPU threads per operator (default: all ${DEFAULT-VALUE} cores)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--device", paramLabel = "DEVICE", description = "cpu or cuda (default: cpu)")
    private String device = "cpu";

    @Option(names = "--markdown", paramLabel = "FILE", description = "write Markdown to a file instead of printing it")
    private @Nullable Path markdown;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new MemoryBenchmark()).setExecutionExceptionHandler((failed, command, _) -> {
            command.getErr().println("benchmarks: " + failed.getMessage());
            return 1;
        });
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (batch < 1 || channels < 2 || side < 2 || threads < 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--batch and --threads must be at least 1, --channels and --side at least 2");
        }
        SequencedMap<String, List<String>> rows = new LinkedHashMap<>();
        boolean failed = false;
        for (String method : only) {
            List<String> cells;
            try {
                cells = measure(method).cells();
            } catch (IllegalStateException failure) {
                failed = true;
                cells = List.of(pooling(method), "–", "–", "–", "not measured: " + failure.getMessage());
            }
            progress(method + ": " + String.join(", ", cells));
            rows.put(method, cells);
        }
        write(page(
                "benchmarks/memory "
                        + String.join(" ", spec.commandLine().getParseResult().originalArgs()),
                "[%d, %d, %d, %d] in float32".formatted(batch, channels, side, side),
                rows,
                facts()));
        return failed ? 1 : 0;
    }

    private static String pooling(String method) {
        return "`" + Methods.find(method).map(Method::pooling).orElse(method) + "`";
    }

    private MemoryWorker.MemoryUsage measure(String method) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command(method));
        // returns large freed blocks to the system at once, so that resident memory is memory in use
        builder.environment().put("MALLOC_MMAP_THRESHOLD_", "" + (1 << 20));
        Path errors = Files.createTempFile("memory", ".log");
        try {
            Process process = builder.redirectError(errors.toFile()).start();
            String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() != 0) {
                throw new IllegalStateException(firstLine(errors, process.exitValue()));
            }
            return MemoryWorker.MemoryUsage.parse(line);
        } finally {
            Files.delete(errors);
        }
    }

    private static String firstLine(Path errors, int code) throws IOException {
        return Files.readAllLines(errors).stream()
                .filter(line -> line.contains("Exception") || line.contains("Error"))
                .findFirst()
                .map(line -> line.replaceFirst("^Exception in thread \"main\" [\\w.]+: ", ""))
                .orElse("the process ended with code " + code);
    }

    private List<String> command(String method) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR", // no logging backend is intended
                "-XX:+UseSerialGC", // a small Java heap: the rest is memory of libtorch
                "-Xmn16m",
                "-cp",
                System.getProperty("java.class.path"),
                MemoryWorker.class.getName()));
        command.addAll(List.of(method, "" + batch, "" + channels, "" + side, "" + threads, device));
        return command;
    }

    private SequencedMap<String, String> facts() {
        SequencedMap<String, String> facts = new LinkedHashMap<>(Machine.describe());
        facts.put("libtorch", Libtorch.load().version());
        facts.put("threads", "" + threads);
        facts.put("device", device);
        facts.put("date", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        return facts;
    }

    private void progress(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }

    private void write(String page) throws IOException {
        if (markdown != null) {
            Files.writeString(markdown, page);
        } else {
            PrintWriter out = spec.commandLine().getOut();
            out.print(page);
            out.flush();
        }
    }

    /**
     * Returns the results as Markdown.
     *
     * @param command as typed
     * @param input shape of the features
     * @param rows cells by method
     * @param facts of the machine, by name
     */
    private static String page(
            String command, String input, Map<String, List<String>> rows, Map<String, String> facts) {
        StringBuilder text = new StringBuilder("# Peak memory of every method\n\n```\n" + command + "\n```\n\n");
        text.append("""
                Forward and backward pass of each method, including the gradient of the features, on features %s.
                *Peak* comes on top of the features and the parameters of the pooling. The last column is the largest tensor
                between two stages of the forward pass. No second-order method makes a matrix of positions by positions.

                """.formatted(input));
        text.append(row(HEADINGS)).append("|---|---|---:|---:|---:|---|\n");
        rows.forEach((method, cells) -> text.append("| `" + method + "` ").append(row(cells)));
        text.append("\n| | |\n|---|---|\n");
        facts.forEach((name, fact) -> text.append(row(List.of(name, fact))));
        return text.toString();
    }

    private static String row(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
