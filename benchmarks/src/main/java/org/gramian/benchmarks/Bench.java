package org.gramian.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.benchmarks.WorkloadResult.SideResult;
import org.gramian.benchmarks.WorkloadResult.Trajectory;
import org.jspecify.annotations.Nullable;

/** Runs a {@link BenchPlan}: peak rates first, then one workload after the other. */
public final class Bench {
    private static final String GRAMIAN = "gramian";

    private final BenchPlan plan;
    private final List<Side> others;
    private final Listener listener;

    private Bench(BenchPlan plan, List<Side> others, Listener listener) {
        this.plan = plan;
        this.others = others;
        this.listener = listener;
    }

    /** Listener for progress and results. */
    public interface Listener {
        /** Receives a progress message. */
        void say(String sentence);

        /** Receives all results so far after each measurement, so that an interrupted run leaves its results. */
        void measured(BenchReport soFar);
    }

    /**
     * Runs all measurements.
     *
     * @param python PyTorch to compare with, or null
     * @param modes of PyTorch
     * @throws IllegalArgumentException if a mode needs a GPU and the plan is for the CPU
     * @throws IllegalStateException if the side of Gramian fails
     */
    public static BenchReport run(
            BenchPlan plan, @Nullable PythonTorch python, List<PythonTorch.Mode> modes, Listener listener) {
        modes.forEach(mode -> mode.requireOn(plan.grid().device()));
        List<Side> others = new ArrayList<>();
        if (python != null) {
            modes.forEach(mode -> others.add(new Side.Python(python, mode)));
        }
        return new Bench(plan, others, listener).run();
    }

    private BenchReport run() {
        List<BenchPlan.Case> cases = plan.cases();
        plan.leftOut().forEach(listener::say);
        Map<Precision, Double> ceilings = ceilings(cases);
        List<WorkloadResult> comparisons = new ArrayList<>();
        BenchReport report = BenchReport.of(settings(), ceilings, comparisons);
        for (BenchPlan.Case each : cases) {
            List<Side> sides = sides(each.workload());
            List<SideResult> outcomes =
                    WorkloadMeasurement.of(each.workload(), each.spec(), sides, plan.runs(), listener::say);
            comparisons.add(new WorkloadResult(each.workload(), each.spec(), outcomes, trajectory(each, outcomes)));
            report = BenchReport.of(settings(), ceilings, comparisons);
            listener.measured(report);
        }
        return report;
    }

    /** Measures the best rate of a large matrix product for every precision of the plan. */
    private Map<Precision, Double> ceilings(List<BenchPlan.Case> cases) {
        Map<Precision, Double> ceilings = new EnumMap<>(Precision.class);
        for (BenchPlan.Case each : cases) {
            if (Operations.of(each.workload(), each.spec()).isPresent()) {
                ceilings.computeIfAbsent(each.spec().precision(), this::ceiling);
            }
        }
        return ceilings;
    }

    private double ceiling(Precision precision) {
        TaskSpec spec = plan.spec(CeilingTask.NAME, 1, precision);
        try (WorkerProcess worker = new WorkerProcess(new Side.Java(GRAMIAN, CeilingTask.NAME), spec)) {
            double best = worker.run(1);
            for (int i = 0; i < Math.min(CeilingTask.TIMES, plan.runs().timed()); i++) {
                best = Math.min(best, worker.run((int) Math.clamp(WorkloadMeasurement.LEAST_SECONDS / best, 1, 100)));
            }
            double rate = CeilingTask.operations(plan.grid().device()) / best;
            listener.say("peak of " + precision.text() + ": " + Units.teraflops(rate)
                    + " TFLOP/s, in a product of square matrices of size "
                    + CeilingTask.size(plan.grid().device()));
            return rate;
        }
    }

    private List<Side> sides(BenchWorkload workload) {
        if (workload == BenchWorkload.DEFINITION) {
            return List.of(
                    new Side.Java("matrix form", workload.text()), new Side.Java("double loop", KernelTasks.Loop.NAME));
        }
        if (workload == BenchWorkload.PREDICTION) {
            return List.of(
                    new Side.Java("from files", workload.text()),
                    new Side.Java("from memory", PredictionTask.IN_MEMORY));
        }
        List<Side> sides = new ArrayList<>(List.of(new Side.Java(GRAMIAN, workload.text())));
        if (workload != BenchWorkload.IMAGES) {
            sides.addAll(others);
        }
        return sides;
    }

    /** Compares losses of fresh workers of Gramian and of the first other side measured. */
    private Optional<Trajectory> trajectory(BenchPlan.Case each, List<SideResult> outcomes) {
        int steps = plan.runs().trajectory();
        Optional<Side> other = others.stream()
                .filter(side -> outcomes.stream()
                        .anyMatch(outcome -> outcome instanceof SideResult.Measured
                                && outcome.label().equals(side.label())))
                .findFirst();
        if (steps == 0 || !each.workload().moves() || other.isEmpty()) {
            return Optional.empty();
        }
        Trajectory found = new Trajectory(
                losses(new Side.Java(GRAMIAN, each.workload().text()), each.spec(), steps),
                losses(other.get(), each.spec(), steps),
                other.get().label(),
                each.spec().precision().tolerance());
        listener.say(each.workload().title(each.spec()) + ": " + found);
        return Optional.of(found);
    }

    private static List<Double> losses(Side side, TaskSpec spec, int steps) {
        try (WorkerProcess worker = new WorkerProcess(side, spec)) {
            return worker.trajectory(steps);
        }
    }

    private SequencedMap<String, String> settings() {
        SequencedMap<String, String> settings = new LinkedHashMap<>();
        settings.put("device", plan.grid().device().toString());
        settings.put("threads per side", "" + plan.grid().threads());
        settings.put("pooling", plan.sizes().pooling());
        settings.put("backbone", plan.sizes().backbone());
        settings.put("runs", plan.runs().timed() + " timed, " + plan.runs().warmups() + " warm-up, sides alternating");
        settings.put("date", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        return settings;
    }
}
