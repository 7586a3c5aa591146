package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Consumer;

/**
 * One workload measured: the side of interest, and the other one where there is one.
 *
 * @param workload which
 * @param spec its sizes
 * @param first Gramian's side
 * @param second what it is compared with
 * @param agreement of the numbers of both sides
 */
record Comparison(
        Workload workload, TaskSpec spec, Timing first, Optional<Timing> second, Optional<Agreement> agreement) {
    /** Lets the threads of the side that has just run go to sleep: they spin for a while, and would be in the other's way. */
    private static final long PAUSE_MILLISECONDS = 200;

    /** How many times as fast the first side is, by medians. */
    OptionalDouble ratio() {
        return second.map(other -> OptionalDouble.of(other.median() / first.median()))
                .orElse(OptionalDouble.empty());
    }

    /** Pictures that the first side loads in a second, by its median, where pictures are loaded. */
    OptionalDouble perSecond() {
        return workload == Workload.PICTURES
                ? OptionalDouble.of(spec.number("batch") / first.median())
                : OptionalDouble.empty();
    }

    /**
     * Runs both sides in turns: the numbers are compared, then each side warms up, then they are timed A B, B A, A B …
     *
     * @throws IllegalStateException if their numbers differ
     */
    static Comparison measure(
            Workload workload, TaskSpec spec, List<Side> sides, Repeats repeats, Consumer<String> log) {
        List<WorkerProcess> workers = new ArrayList<>();
        try {
            sides.forEach(side -> workers.add(new WorkerProcess(side, spec)));
            Optional<Agreement> agreement = compare(workload, workers, sides);
            agreement.ifPresent(found -> log.accept(workload.text() + ": " + found));
            List<List<Double>> seconds = new ArrayList<>();
            sides.forEach(_ -> seconds.add(new ArrayList<>()));
            for (int round = -repeats.warmups(); round < repeats.timed(); round++) {
                double[] times = round(workers, Math.floorMod(round, 2) == 1);
                for (int i = 0; i < times.length && round >= 0; i++) {
                    seconds.get(i).add(times[i]);
                }
                log.accept(progress(workload, sides, round, repeats, times));
            }
            List<Timing> timings = new ArrayList<>();
            for (int i = 0; i < workers.size(); i++) {
                WorkerProcess worker = workers.get(i);
                timings.add(new Timing(sides.get(i).label(), seconds.get(i), worker.peakMemory(), worker.about()));
            }
            Optional<Timing> other = timings.size() > 1 ? Optional.of(timings.get(1)) : Optional.empty();
            return new Comparison(workload, spec, timings.getFirst(), other, agreement);
        } finally {
            workers.forEach(WorkerProcess::close);
        }
    }

    /**
     * How often the work is done.
     *
     * @param warmups runs that do not count
     * @param timed runs that count
     */
    record Repeats(int warmups, int timed) {}

    private static Optional<Agreement> compare(Workload workload, List<WorkerProcess> workers, List<Side> sides) {
        List<SequencedMap<String, Double>> values =
                workers.stream().map(WorkerProcess::check).toList();
        if (values.size() < 2) {
            return Optional.empty();
        }
        Agreement agreement = Agreement.of(values.get(0), values.get(1));
        if (!agreement.holds()) {
            throw new IllegalStateException(
                    "%s: the sides disagree by %.1e in '%s', more than %.0e: %s computed %s, %s %s"
                            .formatted(
                                    workload.text(),
                                    agreement.largestDifference(),
                                    agreement.where(),
                                    Agreement.TOLERANCE,
                                    sides.get(0).label(),
                                    values.get(0),
                                    sides.get(1).label(),
                                    values.get(1)));
        }
        return Optional.of(agreement);
    }

    private static double[] round(List<WorkerProcess> workers, boolean reversed) {
        double[] times = new double[workers.size()];
        for (int i = 0; i < times.length; i++) {
            int turn = reversed ? times.length - 1 - i : i;
            pause();
            times[turn] = workers.get(turn).run();
        }
        return times;
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupted);
        }
    }

    private static String progress(Workload workload, List<Side> sides, int round, Repeats repeats, double[] times) {
        StringBuilder line = new StringBuilder(workload.text());
        line.append(round < 0 ? " warm-up" : " " + (round + 1) + "/" + repeats.timed())
                .append(':');
        for (int i = 0; i < times.length; i++) {
            line.append("  ").append(sides.get(i).label()).append(' ').append(Units.time(times[i]));
        }
        return line.toString();
    }
}
