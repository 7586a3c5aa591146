package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import org.gramian.tensor.Libtorch;

/**
 * All measurements of one run, and what they were made on.
 *
 * @param facts machine, versions, settings and date, by name
 * @param ceilings operations in a second of a large matrix product, by precision
 * @param comparisons in the order in which they were run
 */
public record Report(
        SequencedMap<String, String> facts, Map<Precision, Double> ceilings, List<Comparison> comparisons) {
    static final List<String> HEADINGS =
            List.of("workload", "side", "median", "img/s", "TFLOP/s", "of peak", "peak memory", "speedup", "remark");

    /** The machine's facts, and those that the workers told of themselves. */
    static Report of(
            SequencedMap<String, String> settings, Map<Precision, Double> ceilings, List<Comparison> comparisons) {
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
        return new Report(facts, ceilings, List.copyOf(comparisons));
    }

    private static String python(Map<String, String> about) {
        return about.getOrDefault("runtime", "") + ", torch " + about.getOrDefault("torch", "?") + ", mkldnn "
                + about.getOrDefault("mkldnn", "?") + ", BLAS " + about.getOrDefault("blas", "?");
    }

    /** Whether the numbers of some side were others than Gramian's. */
    public boolean failed() {
        return comparisons.stream().anyMatch(Comparison::disagrees);
    }

    /** For the terminal. */
    public String columns() {
        return Layout.columns(this);
    }

    /** A page of its own. */
    public String markdown() {
        return Layout.markdown(this);
    }

    /** The table's rows, in the order of {@link #HEADINGS}. */
    List<List<String>> rows() {
        List<List<String>> rows = new ArrayList<>();
        for (Comparison comparison : comparisons) {
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

    private List<String> row(String title, Comparison comparison, Timing timing) {
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
                comparison.workload() == Workload.PICTURES
                        ? String.format(Locale.ROOT, "expected: at least %d img/s", ImagesTask.ASKED)
                        : "");
    }

    private OptionalDouble ofCeiling(Comparison comparison, Timing timing) {
        OptionalDouble rate = comparison.operationsPerSecond(timing);
        Double ceiling = ceilings.get(Precision.parse(comparison.spec().text("precision")));
        return rate.isPresent() && ceiling != null ? OptionalDouble.of(rate.getAsDouble() / ceiling) : rate;
    }

    /** One line per comparison on how well the sides agree, and how their losses go on. */
    List<String> agreements() {
        List<String> lines = new ArrayList<>();
        for (Comparison comparison : comparisons) {
            for (SideResult outcome : comparison.outcomes()) {
                if (outcome instanceof SideResult.Measured(Timing timing, var agreement)) {
                    agreement.ifPresent(found -> lines.add(comparison.title() + ": " + timing.label() + ": " + found));
                }
            }
            comparison.trajectory().ifPresent(found -> lines.add(comparison.title() + ": " + found));
        }
        return lines;
    }

    /** Everything, as JSON is made of: maps, lists and numbers. */
    public SequencedMap<String, Object> tree() {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("facts", facts);
        SequencedMap<String, Object> rates = new LinkedHashMap<>();
        ceilings.forEach((precision, rate) -> rates.put(precision.text(), rate / 1e12));
        tree.put("ceilings", rates);
        tree.put("measurements", comparisons.stream().map(this::tree).toList());
        return tree;
    }

    private SequencedMap<String, Object> tree(Comparison comparison) {
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

    private SequencedMap<String, Object> tree(Comparison comparison, SideResult outcome) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("side", outcome.label());
        switch (outcome) {
            case SideResult.Missing missing -> tree.put("notMeasured", missing.reason());
            case SideResult.Measured(Timing timing, var agreement) -> {
                tree.put("median", timing.median());
                tree.put("min", timing.min());
                tree.put("max", timing.max());
                tree.put("seconds", timing.seconds());
                comparison.imagesPerSecond(timing).ifPresent(rate -> tree.put("picturesPerSecond", rate));
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
        tree.put("losses", List.of(found.first(), found.second()));
        return tree;
    }
}
