package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;

/**
 * All measurements of one run, and what they were made on.
 *
 * @param facts machine, versions, settings and date, by name
 * @param comparisons in the order in which they were run
 */
record Report(SequencedMap<String, String> facts, List<Comparison> comparisons) {
    static final List<String> HEADINGS =
            List.of("workload", "side", "median", "min", "max", "peak memory", "times as fast");

    /** The machine's facts, and those that the workers told of themselves. */
    static Report of(SequencedMap<String, String> settings, List<Comparison> comparisons) {
        SequencedMap<String, String> facts = new LinkedHashMap<>(Machine.describe());
        for (Comparison comparison : comparisons) {
            facts.putIfAbsent("libtorch", comparison.first().about().getOrDefault("torch", "?"));
            comparison
                    .second()
                    .filter(second -> second.label().equals("Python"))
                    .ifPresent(second -> facts.putIfAbsent("Python", python(second.about())));
        }
        facts.putAll(settings);
        return new Report(facts, List.copyOf(comparisons));
    }

    private static String python(Map<String, String> about) {
        return about.getOrDefault("runtime", "") + ", torch " + about.getOrDefault("torch", "?") + ", mkldnn "
                + about.getOrDefault("mkldnn", "?") + ", BLAS " + about.getOrDefault("blas", "?");
    }

    /** The table's rows, in the order of {@link #HEADINGS}. */
    List<List<String>> rows() {
        List<List<String>> rows = new ArrayList<>();
        for (Comparison comparison : comparisons) {
            rows.add(row(
                    comparison.workload().title(comparison.spec()),
                    comparison.first(),
                    Units.ratio(comparison.ratio())));
            comparison.second().ifPresent(second -> rows.add(row("", second, "")));
        }
        return rows;
    }

    private static List<String> row(String title, Timing timing, String ratio) {
        return List.of(
                title,
                timing.label(),
                Units.time(timing.median()),
                Units.time(timing.min()),
                Units.time(timing.max()),
                Units.memory(timing.peakMemory()),
                ratio);
    }

    /** One line per workload on how well both sides agree. */
    List<String> agreements() {
        return comparisons.stream()
                .flatMap(comparison -> comparison.agreement().stream()
                        .map(agreement -> comparison.workload().text() + ": " + agreement))
                .toList();
    }

    /** One line per workload of which not the time of a run is asked for, but how much is done in a second. */
    List<String> rates() {
        return comparisons.stream()
                .flatMap(comparison -> comparison.perSecond().stream()
                        .mapToObj(rate -> String.format(
                                Locale.ROOT,
                                "%s: %.0f per second; at least %d are asked for",
                                comparison.workload().text(),
                                rate,
                                PicturesTask.ASKED)))
                .toList();
    }

    /** Everything, as JSON is made of: maps, lists and numbers. */
    SequencedMap<String, Object> tree() {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("facts", facts);
        tree.put("workloads", comparisons.stream().map(Report::tree).toList());
        return tree;
    }

    private static SequencedMap<String, Object> tree(Comparison comparison) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("workload", comparison.workload().text());
        tree.put("sizes", comparison.spec().values());
        List<Object> sides = new ArrayList<>(List.of(tree(comparison.first())));
        comparison.second().ifPresent(second -> sides.add(tree(second)));
        tree.put("sides", sides);
        comparison.ratio().ifPresent(ratio -> tree.put("timesAsFast", ratio));
        comparison.perSecond().ifPresent(rate -> tree.put("perSecond", rate));
        comparison.agreement().ifPresent(agreement -> tree.put("largestDifference", agreement.largestDifference()));
        return tree;
    }

    private static SequencedMap<String, Object> tree(Timing timing) {
        SequencedMap<String, Object> tree = new LinkedHashMap<>();
        tree.put("side", timing.label());
        tree.put("median", timing.median());
        tree.put("min", timing.min());
        tree.put("max", timing.max());
        tree.put("seconds", timing.seconds());
        timing.peakMemory().ifPresent(bytes -> tree.put("peakMemory", bytes));
        tree.put("about", timing.about());
        return tree;
    }
}
