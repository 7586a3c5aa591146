package org.gramian.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.check.CheckResult;
import org.gramian.check.GoldenCheck;
import org.gramian.check.LayerCheck;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.library.LibtorchFolder;

/** What the doctor finds, topic by topic: sentences for people, details for programs, and what is wrong. */
final class DoctorReport {
    private final Device device;
    private final Map<String, List<String>> lines = new LinkedHashMap<>();
    private final Map<String, Object> details = new LinkedHashMap<>();
    private final List<String> problems = new ArrayList<>();

    DoctorReport(Device device) {
        this.device = device;
    }

    Map<String, List<String>> lines() {
        return lines;
    }

    /** Everything found, as maps, lists, texts and numbers. */
    Map<String, Object> details() {
        details.put("healthy", healthy());
        details.put("problems", problems);
        return details;
    }

    List<String> problems() {
        return problems;
    }

    boolean healthy() {
        return problems.isEmpty();
    }

    void machine() {
        Runtime.Version java = Runtime.version();
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        int cores = Runtime.getRuntime().availableProcessors();
        say("gramian", Version.number());
        say("java", java + " (" + System.getProperty("java.vendor") + ")");
        say("system", system + ", " + cores + " cores, " + gibibytes(memory()) + " of memory");
        details.put("gramian", Version.number());
        details.put("java", java.toString());
        details.put("system", Map.of("name", system, "cores", cores, "memoryBytes", memory()));
    }

    private static long memory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : 0;
    }

    private static String gibibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GiB", bytes / 0x1p30);
    }

    void libtorch() {
        Libtorch libtorch = Libtorch.load();
        LibtorchFolder folder = libtorch.folder();
        List<String> damages = folder.verifyChecksums();
        damages.forEach(damage -> problems.add(damage + " (delete " + folder.folder() + " to unpack it again)"));
        String checksums = !folder.hasChecksums() ? "unknown" : damages.isEmpty() ? "intact" : "DAMAGED";
        String version = folder.version() == null ? libtorch.version() : folder.version();
        say("libtorch", version + ", " + folder.origin());
        say("libtorch", "in " + folder.folder() + ", checksums " + checksums);
        say("device", device + "; CUDA devices: " + libtorch.cudaDevices());
        say("threads", Integer.toString(libtorch.threads()));
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("version", version);
        found.put("origin", folder.origin());
        found.put("folder", folder.folder().toString());
        found.put("checksums", checksums);
        details.put("libtorch", found);
        details.put("device", device.toString());
        details.put("cudaDevices", libtorch.cudaDevices());
        details.put("threads", libtorch.threads());
    }

    void gradients() {
        judge("gradients", "functions against central differences", LayerCheck.run(device));
    }

    void golden(Path folder) throws IOException {
        for (DType type : List.of(DType.F64, DType.F32)) {
            GoldenCheck.Report report = new GoldenCheck(type, device).compare(folder);
            judge("golden " + type.name().toLowerCase(Locale.ROOT), "reference tensors", report.outcomes());
            details.put("goldenWithoutLayer", report.others());
            if (type == DType.F32 && !report.others().isEmpty()) {
                say("", "no layer for " + String.join(", ", report.others()));
            }
        }
    }

    private void judge(String topic, String what, List<CheckResult> outcomes) {
        details.put(topic, outcomes);
        if (outcomes.isEmpty()) {
            problems.add(topic + ": nothing to compare");
            return;
        }
        CheckResult worst = outcomes.stream()
                .max(Comparator.comparingDouble(outcome -> outcome.error() / outcome.tolerance()))
                .orElseThrow();
        List<CheckResult> failed =
                outcomes.stream().filter(outcome -> !outcome.passed()).toList();
        say(
                topic,
                String.format(
                        Locale.ROOT,
                        "%d of %d %s within %.0e; worst %.1e (%s)",
                        outcomes.size() - failed.size(),
                        outcomes.size(),
                        what,
                        worst.tolerance(),
                        worst.error(),
                        worst.subject()));
        failed.forEach(outcome -> problems.add(
                String.format(Locale.ROOT, "%s: %s is off by %.1e", topic, outcome.subject(), outcome.error())));
    }

    void timing() {
        QuickTiming timing = QuickTiming.measure(device);
        say(
                "timing",
                String.format(
                        Locale.ROOT,
                        "%d x %d product in float32: %.2f ms, %.0f GFLOP/s",
                        QuickTiming.MATRIX,
                        QuickTiming.MATRIX,
                        timing.productSeconds() * 1e3,
                        timing.productGigaflops()));
        say("timing", String.format(Locale.ROOT, "%s: %.1f ms", QuickTiming.STEP, timing.stepSeconds() * 1e3));
        details.put("timing", timing);
    }

    private void say(String topic, String sentence) {
        lines.computeIfAbsent(topic, key -> new ArrayList<>()).add(sentence);
    }
}
