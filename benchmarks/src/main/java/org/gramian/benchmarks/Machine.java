package org.gramian.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** Description of the machine. */
public final class Machine {
    private Machine() {}

    /** Returns system, CPU, GPU and JDK by name. */
    public static SequencedMap<String, String> describe() {
        SequencedMap<String, String> facts = new LinkedHashMap<>();
        facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        facts.put("CPU", processor() + ", " + Runtime.getRuntime().availableProcessors() + " cores");
        gpu().ifPresent(name -> facts.put("GPU", name));
        facts.put("JDK", Runtime.version() + " (" + System.getProperty("java.vendor") + ")");
        return facts;
    }

    /** Returns the name of the first NVIDIA GPU. */
    private static Optional<String> gpu() {
        try (Stream<Path> folders = Files.list(Path.of("/proc/driver/nvidia/gpus"))) {
            Optional<Path> first = folders.sorted().findFirst();
            if (first.isEmpty()) {
                return Optional.empty();
            }
            try (Stream<String> lines = Files.lines(first.get().resolve("information"))) {
                return lines.filter(line -> line.startsWith("Model:"))
                        .map(line -> line.substring("Model:".length()).strip())
                        .findFirst();
            }
        } catch (IOException | UncheckedIOException none) {
            return Optional.empty();
        }
    }

    private static String processor() {
        List<String> names = List.of("model name", "Model", "CPU part");
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            List<String> info = lines.toList();
            return names.stream()
                    .flatMap(name -> info.stream().filter(line -> line.startsWith(name)))
                    .findFirst()
                    .map(line -> line.replaceFirst("\\s*:\\s*", ": ").replaceFirst("^model name: ", ""))
                    .orElse("unknown CPU");
        } catch (IOException notLinux) {
            return "unknown CPU";
        }
    }
}
