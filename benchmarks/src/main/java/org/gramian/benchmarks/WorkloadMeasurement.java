package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.gramian.benchmarks.WorkloadResult.SideDifference;
import org.gramian.benchmarks.WorkloadResult.SideResult;
import org.gramian.benchmarks.WorkloadResult.Timing;

/**
 * Measurement of one workload: starts a worker for each side, compares their values, warms up, and times the sides in turns,
 * A B C, C B A, A B C, …, so that other load of the machine affects all of them.
 *
 * <p>A timing takes as many steps as need {@link #LEAST_SECONDS} on the fastest side, the same number on all sides: kernel
 * launches are asynchronous, so only many steps show the cost of one.
 */
final class WorkloadMeasurement implements AutoCloseable {
    /** Least duration of a timing between two synchronizations. */
    static final double LEAST_SECONDS = 0.03;

    /** Steps that take longer need no untimed step before. */
    private static final double LONG_SECONDS = 2;

    private static final int MOST_STEPS = 1000;

    /** Warm-up of a side at least: Java compiles what runs often, after hundreds of steps. */
    private static final double WARM_SECONDS = 3;

    /** Pause in which the spinning threads of the previous side go to sleep. */
    private static final long PAUSE_MILLISECONDS = 200;

    private final BenchWorkload workload;
    private final String title;
    private final TaskSpec spec;
    private final Consumer<String> log;
    private final List<String> order = new ArrayList<>();
    private final SequencedMap<String, WorkerProcess> workers = new LinkedHashMap<>();
    private final Map<String, SideResult.Missing> missing = new LinkedHashMap<>();
    private final Map<String, SideDifference> agreements = new LinkedHashMap<>();
    private int steps = 1;
    /** Whether every turn starts with an untimed step, to refill caches after another side. */
    private boolean entering;

    private WorkloadMeasurement(BenchWorkload workload, TaskSpec spec, Consumer<String> log) {
        this.workload = workload;
        this.title = workload.title(spec);
        this.spec = spec;
        this.log = log;
    }

    /** Returns the results of all sides in order; a failure of the first side, Gramian, is thrown. */
    static List<SideResult> of(
            BenchWorkload workload, TaskSpec spec, List<Side> sides, BenchPlan.Runs runs, Consumer<String> log) {
        try (WorkloadMeasurement measurement = new WorkloadMeasurement(workload, spec, log)) {
            log.accept(measurement.title + ": starting "
                    + sides.stream().map(Side::label).collect(Collectors.joining(", ")));
            sides.forEach(measurement::start);
            log.accept(measurement.title + ": comparing results; compilation may take minutes");
            measurement.compare(spec.precision());
            return measurement.time(runs);
        }
    }

    private void start(Side side) {
        order.add(side.label());
        attempt(side.label(), () -> workers.put(side.label(), new WorkerProcess(side, spec)));
    }

    /** Runs work; a side other than the first may fail and is reported as missing. */
    private void attempt(String label, Runnable work) {
        try {
            work.run();
        } catch (WorkerProcess.UnavailableException failed) {
            if (label.equals(order.getFirst())) {
                throw new IllegalStateException(label + ": " + failed.getMessage(), failed);
            }
            drop(new SideResult.Missing(label, String.valueOf(failed.getMessage()), false));
        }
    }

    private void drop(SideResult.Missing why) {
        log.accept(title + ": " + why.label() + " is not measured: " + why.reason());
        missing.put(why.label(), why);
        WorkerProcess worker = workers.remove(why.label());
        if (worker != null) {
            worker.close();
        }
    }

    private void compare(Precision precision) {
        SequencedMap<String, Double> expected = new LinkedHashMap<>();
        for (String label : List.copyOf(workers.keySet())) {
            attempt(label, () -> {
                SequencedMap<String, Double> found = worker(label).check();
                if (label.equals(order.getFirst())) {
                    expected.putAll(found);
                } else {
                    agree(label, expected, found, precision);
                }
            });
        }
    }

    private void agree(
            String label,
            SequencedMap<String, Double> expected,
            SequencedMap<String, Double> found,
            Precision precision) {
        double tolerance = precision.tolerance();
        double loose = Math.max(tolerance, workload.looseTolerance(precision));
        SideDifference all = SideDifference.of(expected, found);
        SideDifference agreement = SideDifference.of(strict(expected), strict(found));
        if (agreement.holds(tolerance) && all.holds(loose)) {
            log.accept(title + ": " + label + ": " + all);
            agreements.put(label, all);
        } else {
            drop(new SideResult.Missing(
                    label,
                    "its values differ by %.1e in '%s' (tolerance %.0e) and by %.1e in '%s' (tolerance %.0e)"
                            .formatted(
                                    all.largestDifference(),
                                    all.where(),
                                    loose,
                                    agreement.largestDifference(),
                                    agreement.where(),
                                    tolerance),
                    true));
        }
    }

    /** Returns the values without those that depend on rounding. */
    private SequencedMap<String, Double> strict(SequencedMap<String, Double> numbers) {
        SequencedMap<String, Double> strict = new LinkedHashMap<>(numbers);
        strict.keySet().removeIf(workload::isLoose);
        return strict;
    }

    private List<SideResult> time(BenchPlan.Runs runs) {
        double fastest = LEAST_SECONDS;
        // one round at least, to find out how many steps fit
        for (int round = 0; round < Math.max(1, runs.warmups()); round++) {
            fastest = round(round % 2 == 1).values().stream()
                    .mapToDouble(Double::doubleValue)
                    .min()
                    .orElse(LEAST_SECONDS);
            steps = (int) Math.clamp(Math.ceil(LEAST_SECONDS / fastest), 1, MOST_STEPS);
            entering = fastest < LONG_SECONDS;
        }
        int more = (int) Math.min(MOST_STEPS, WARM_SECONDS / fastest) - runs.warmups() * steps;
        if (runs.warmups() > 0 && more > 0) {
            for (String label : List.copyOf(workers.keySet())) {
                attempt(label, () -> {
                    double _ = worker(label).run(more);
                });
            }
        }
        Map<String, List<Double>> seconds = new LinkedHashMap<>();
        for (int round = 0; round < runs.timed(); round++) {
            Map<String, Double> times = round(round % 2 == 1);
            times.forEach((label, time) ->
                    seconds.computeIfAbsent(label, _ -> new ArrayList<>()).add(time));
            log.accept(progress(round, runs, times));
        }
        return order.stream().map(label -> outcome(label, seconds)).toList();
    }

    private SideResult outcome(String label, Map<String, List<Double>> seconds) {
        WorkerProcess worker = workers.get(label);
        if (worker == null) {
            return missing.getOrDefault(label, new SideResult.Missing(label, "its process has ended", false));
        }
        SequencedMap<String, String> about = new LinkedHashMap<>(worker.about());
        about.put("steps per timing", "" + steps);
        Timing timing = new Timing(label, seconds.getOrDefault(label, List.of()), worker.peakMemory(), about);
        return new SideResult.Measured(timing, Optional.ofNullable(agreements.get(label)));
    }

    private Map<String, Double> round(boolean reversed) {
        List<String> turns = List.copyOf(reversed ? workers.reversed().keySet() : workers.keySet());
        Map<String, Double> times = new LinkedHashMap<>();
        for (String label : turns) {
            pause();
            attempt(label, () -> {
                if (entering) {
                    double _ = worker(label).run(1);
                }
                times.put(label, worker(label).run(steps));
            });
        }
        return times;
    }

    private WorkerProcess worker(String label) {
        WorkerProcess worker = workers.get(label);
        if (worker == null) {
            throw new WorkerProcess.UnavailableException("its process has ended");
        }
        return worker;
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupted);
        }
    }

    private String progress(int round, BenchPlan.Runs runs, Map<String, Double> times) {
        StringBuilder line = new StringBuilder(title + " " + (round + 1) + "/" + runs.timed() + ":");
        order.stream()
                .filter(times::containsKey)
                .forEach(label -> line.append("  ")
                        .append(label)
                        .append(' ')
                        .append(Units.time(times.getOrDefault(label, Double.NaN))));
        return line.toString();
    }

    @Override
    public void close() {
        workers.values().forEach(WorkerProcess::close);
    }
}
