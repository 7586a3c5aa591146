package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.gramian.benchmarks.WorkloadResult.SideResult;
import org.gramian.benchmarks.WorkloadResult.Timing;
import org.gramian.benchmarks.WorkloadResult.Trajectory;
import org.gramian.tensor.library.Libtorch;

/**
 * Results of a benchmark with the machine they were measured on.
 *
 * @param facts machine, versions, settings and date, by name
 * @param ceilings peak operations per second by precision
 * @param comparisons results in the order of the plan
 */
public record BenchReport(
        SequencedMap<String, String> facts, Map<Precision, Double> ceilings, List<WorkloadResult> comparisons) {
    static final List<String> HEADINGS =
            List.of("workload", "side", "median", "img/s", "TFLOP/s", "of peak", "peak memory", "speedup", "remark");

    /** First right-aligned column; the last column is a remark. */
    private static final int NUMBERS = 2;

    private static final int REMARK = HEADINGS.size() - 1;

    /** Adds the facts of the machine and of the workers. */
    static BenchReport of(
            SequencedMap<String, String> settings, Map<Precision, Double> ceilings, List<WorkloadResult> comparisons) {
        SequencedMap<String, String> facts = new LinkedHashMap<>(Machine.describe());
        facts.put("libtorch", Libtorch.load().version());
        comparisons.stream()
                .flatMap(comparison -> comparison.outcomes().stream())
                .forEach(outcome -> {
                    if (outcome instanceof SideResult.Measured(Timing timing, var _)
                            && timing.about().getOrDefault("runtime", "").startsWith("Python")) {
                        facts.putIfAbsent("Python", python(timing.about()));
                    }
                });
        facts.putAll(settings);
        ceilings.forEach((precision, rate) ->
                facts.put("peak of " + precision.text(), Units.teraflops(rate) + " TFLOP/s in a matrix product"));
        return new BenchReport(facts, ceilings, List.copyOf(comparisons));
    }

    private static String python(Map<String, String> about) {
        return about.getOrDefault("runtime", "") + ", torch " + about.getOrDefault("torch", "?") + ", mkldnn "
                + about.getOrDefault("mkldnn", "?") + ", BLAS " + about.getOrDefault("blas", "?");
    }

    /** Returns whether the values of a side differ from those of Gramian. */
    public boolean failed() {
        return comparisons.stream().anyMatch(WorkloadResult::disagrees);
    }

    /** Returns the rows of the table, in the order of {@link #HEADINGS}. */
    List<List<String>> rows() {
        List<List<String>> rows = new ArrayList<>();
        for (WorkloadResult comparison : comparisons) {
            String title = comparison.title();
            for (SideResult outcome : comparison.outcomes()) {
                rows.add(
                        switch (outcome) {
                            case SideResult.Measured(Timing timing, var _) -> row(title, comparison, timing);
                            case SideResult.Missing(String label, String reason, var _) ->
                                List.of(title, label, "–", "–", "–", "–", "–", "–", "not measured: " + reason);
                        });
                title = "";
            }
        }
        return rows;
    }

    private List<String> row(String title, WorkloadResult comparison, Timing timing) {
        OptionalDouble images = comparison.imagesPerSecond(timing);
        return List.of(
                title,
                timing.label(),
                Units.time(timing.median()),
                images.isPresent() ? Units.rate(images.getAsDouble()) : "–",
                Units.tera(comparison.operationsPerSecond(timing)),
                Units.percent(ofCeiling(comparison, timing)),
                Units.memory(timing.peakMemory()),
                Units.ratio(comparison.timesAsFast(timing)),
                comparison.workload() == BenchWorkload.IMAGES
                        ? String.format(Locale.ROOT, "expected: at least %d img/s", ImagesTask.REQUIRED)
                        : "");
    }

    private OptionalDouble ofCeiling(WorkloadResult comparison, Timing timing) {
        OptionalDouble rate = comparison.operationsPerSecond(timing);
        Double ceiling = ceilings.get(comparison.spec().precision());
        return rate.isPresent() && ceiling != null ? OptionalDouble.of(rate.getAsDouble() / ceiling) : rate;
    }

    /** Returns lines on the agreement of values and losses of the sides. */
    List<String> agreements() {
        List<String> lines = new ArrayList<>();
        for (WorkloadResult comparison : comparisons) {
            for (SideResult outcome : comparison.outcomes()) {
                if (outcome instanceof SideResult.Measured(Timing timing, var agreement)) {
                    agreement.ifPresent(found -> lines.add(comparison.title() + ": " + timing.label() + ": " + found));
                }
            }
            comparison.trajectory().ifPresent(found -> lines.add(comparison.title() + ": " + found));
        }
        return lines;
    }

    /** Returns all results as a tree of maps, lists and numbers, for JSON. */
    public SequencedMap<String, Object> tree() {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("facts", facts);
        SequencedMap<String, Object> rates = new LinkedHashMap<>();
        ceilings.forEach((precision, rate) -> rates.put(precision.text(), rate / 1e12));
        tree.put("ceilings", rates);
        tree.put("measurements", comparisons.stream().map(this::tree).toList());
        return tree;
    }

    private SequencedMap<String, Object> tree(WorkloadResult comparison) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("workload", comparison.workload().text());
        tree.put("settings", comparison.spec().values());
        Operations.of(comparison.workload(), comparison.spec()).ifPresent(count -> tree.put("operations", count));
        tree.put(
                "sides",
                comparison.outcomes().stream()
                        .map(outcome -> tree(comparison, outcome))
                        .toList());
        comparison.trajectory().ifPresent(found -> tree.put("trajectory", tree(found)));
        return tree;
    }

    private SequencedMap<String, Object> tree(WorkloadResult comparison, SideResult outcome) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("side", outcome.label());
        switch (outcome) {
            case SideResult.Missing missing -> tree.put("notMeasured", missing.reason());
            case SideResult.Measured(Timing timing, var agreement) -> {
                tree.put("median", timing.median());
                tree.put("min", timing.min());
                tree.put("max", timing.max());
                tree.put("seconds", timing.seconds());
                comparison.imagesPerSecond(timing).ifPresent(rate -> tree.put("imagesPerSecond", rate));
                comparison.operationsPerSecond(timing).ifPresent(rate -> tree.put("teraflops", rate / 1e12));
                ofCeiling(comparison, timing).ifPresent(share -> tree.put("ofCeiling", share));
                timing.peakMemory().ifPresent(bytes -> tree.put("peakMemory", bytes));
                comparison.timesAsFast(timing).ifPresent(ratio -> tree.put("timesAsFast", ratio));
                agreement.ifPresent(found -> tree.put("largestDifference", found.largestDifference()));
                tree.put("about", timing.about());
            }
        }
        return tree;
    }

    private static SequencedMap<String, Object> tree(Trajectory found) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("against", found.other());
        tree.put("steps", found.first().size());
        tree.put("largestDifference", found.largestDifference());
        tree.put("tolerance", found.tolerance());
        tree.put("losses", List.of(found.first(), found.second()));
        return tree;
    }

    /** Returns aligned columns, the agreement of the sides and the facts, for the terminal. */
    public String columns() {
        List<List<String>> lines = new ArrayList<>(List.of(HEADINGS));
        lines.addAll(rows());
        int[] widths = new int[HEADINGS.size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        lines.forEach(line -> text.append(aligned(line, widths)).append('\n'));
        text.append('\n');
        agreements().forEach(line -> text.append(line).append('\n'));
        facts.forEach(
                (name, fact) -> text.append(name).append(": ").append(fact).append('\n'));
        return text.toString();
    }

    private static String aligned(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String blanks = " ".repeat(widths[i] - cells.get(i).length());
            line.append(i < NUMBERS || i == REMARK ? cells.get(i) + blanks : blanks + cells.get(i))
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    /** Returns a page in Markdown. */
    public String markdown() {
        StringBuilder text = new StringBuilder("# Last run of `gramian bench`\n\n");
        text.append(markdownRow(HEADINGS));
        text.append("|---|---|---:|---:|---:|---:|---:|---:|---|\n");
        rows().forEach(row -> text.append(markdownRow(row)));
        text.append("\nSpeedup: median of the first other side divided by the median of the row. Peak memory: of the"
                + " GPU if it is used, else of the process.\n\n");
        agreements()
                .forEach(line ->
                        text.append("- ").append(line.replace("|", "\\|")).append('\n'));
        text.append("\n| | |\n|---|---|\n");
        facts.forEach((name, fact) -> text.append(markdownRow(List.of(name, fact))));
        return text.toString();
    }

    private static String markdownRow(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
