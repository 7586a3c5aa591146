package org.gramian.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Client of a worker process; closing it ends the process. */
final class WorkerProcess implements AutoCloseable {
    private final Side side;
    private final Process process;
    private final BufferedReader answers;
    private final Writer commands;
    private final SequencedMap<String, String> about = new LinkedHashMap<>();

    /** Starts the process of a side and waits until its data are ready. */
    WorkerProcess(Side side, TaskSpec spec) {
        this.side = side;
        List<String> command = side.command(spec);
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            // read by OpenMP and BLAS libraries when they are loaded
            for (String name : List.of("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")) {
                builder.environment().put(name, "" + spec.number("threads"));
            }
            process = builder.start();
        } catch (IOException failed) {
            throw new UncheckedIOException("the worker " + command.getFirst() + " cannot be started", failed);
        }
        answers = process.inputReader(StandardCharsets.UTF_8);
        commands = process.outputWriter(StandardCharsets.UTF_8);
        try {
            answer().properties()
                    .forEach(e -> about.put(e.getKey(), e.getValue().asString()));
        } catch (RuntimeException failed) {
            close();
            throw failed;
        }
    }

    /** Returns versions and threads of the worker by name. */
    SequencedMap<String, String> about() {
        return about;
    }

    /** Returns the values in which sides must agree. */
    SequencedMap<String, Double> check() {
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        request("check")
                .properties()
                .forEach(e -> values.put(e.getKey(), e.getValue().asDouble()));
        return values;
    }

    /** Runs steps and returns the seconds per step, measured in the worker. */
    double run(int steps) {
        return request("run " + steps).get("seconds").asDouble();
    }

    /** Returns the losses of the first steps of a new worker. */
    List<Double> trajectory(int steps) {
        List<Double> losses = new ArrayList<>();
        request("trajectory " + steps).get("losses").forEach(loss -> losses.add(loss.asDouble()));
        return losses;
    }

    /** Returns the peak memory in bytes: of the GPU if used, otherwise of the process; empty if unknown. */
    OptionalLong peakMemory() {
        JsonNode gpu = request("memory").get("gpu");
        return gpu == null ? peakOfProcess() : OptionalLong.of(gpu.asLong());
    }

    private OptionalLong peakOfProcess() {
        try {
            return Files.readAllLines(Path.of("/proc", "" + process.pid(), "status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                    .findFirst();
        } catch (IOException notLinux) {
            return OptionalLong.empty();
        }
    }

    private JsonNode request(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException gone) {
            throw new UncheckedIOException(side.label() + ": the worker has ended", gone);
        }
        return answer();
    }

    /** Reads the next line of JSON; libraries may print other lines. */
    private JsonNode answer() {
        try {
            String line = answers.readLine();
            while (line != null && !line.startsWith("{")) {
                line = answers.readLine();
            }
            if (line == null) {
                throw new IllegalStateException(side.label() + ": the worker ended without an answer, with exit code "
                        + process.waitFor() + "; its message is above");
            }
            JsonNode answer = JsonMapper.shared().readTree(line);
            if (answer.has("unavailable")) {
                throw new UnavailableException(answer.get("unavailable").asString());
            }
            return answer;
        } catch (IOException failed) {
            throw new UncheckedIOException(side.label() + ": the worker's answer cannot be read", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(side.label() + ": interrupted", interrupted);
        }
    }

    @Override
    public void close() {
        try {
            commands.write("quit\n");
            commands.close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException ended) {
            process.destroyForcibly();
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Thrown if a side is not available; the table shows the message. */
    static final class UnavailableException extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        UnavailableException(String why) {
            super(why);
        }
    }
}
