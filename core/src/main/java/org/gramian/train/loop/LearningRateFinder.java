package org.gramian.train.loop;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.gramian.autodiff.Parameter;
import org.gramian.basis.AtomicFile;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;
import org.gramian.train.Optimizer;
import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.loop.TrainingProgress.EpochSums;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Learning rate range test (Smith, Cyclical Learning Rates for Training Neural Networks, WACV 2017; {@code lr_find} of fastai).
 *
 * <p>Takes {@code n = min(100, steps of the stage)} training steps while the learning rate rises exponentially from 1e-6 to 100 times the
 * default rate u:
 *
 * <pre>{@code
 * r_i = u · 1e-6 · 1e8^(i/(n−1)),                       i = 0 … n−1
 * m_i = β·m_{i−1} + (1−β)·ℓ_i,   β = 0.9^(100/n)         (ℓ_i loss of step i, m_{−1} = 0)
 * s_i = m_i / (1 − β^{i+1})                              (smoothed loss)
 * }</pre>
 *
 * <p>It stops where the loss is not finite or {@code s_i > 4·min_j s_j}. The result is a third of the rate of steepest descent, since the
 * smoothed loss lags behind, rounded to two digits; with {@code h = n/20} and {@code t = n/3}:
 *
 * <pre>{@code
 * rate = r_k / 3,   k = argmin_i (s_{i+h} − s_{i−h}),    t ≤ i ≤ argmin s
 * }</pre>
 *
 * <p>The first t steps measure only the noise σ of the loss. The default rate stays if {@code min s > 0.95·s_t}, if the steepest
 * difference is within {@value #SIGNIFICANT} standard deviations of noise,
 *
 * <pre>{@code
 * var(s_{i+h} − s_{i−h}) = 2·(1 − β^{2h})·(1−β)/(1+β)·σ²,   σ² = var(ℓ_0 … ℓ_{t−1})
 * }</pre>
 *
 * or if the stage has fewer than {@value #FEWEST_STEPS} steps.
 *
 * <p>All parameters and batch-norm statistics are restored afterwards: training continues as with a given learning rate.
 */
public final class LearningRateFinder {
    /** Value of the learning rate option that selects this test. */
    public static final String AUTO = "auto";

    /** File of the results in a fold's folder. */
    public static final String FILE = "lr-range-test.json";

    private static final int MOST_STEPS = 100;
    static final int FEWEST_STEPS = 20;
    private static final double LOWEST = 1e-6;
    private static final double HIGHEST = 100;
    private static final double SMOOTHING = 0.9;
    private static final double DIVERGED = 4;
    private static final double LEAST_DESCENT = 0.05;
    private static final double SIGNIFICANT = 4;
    private static final double MARGIN = 3;
    private static final MathContext DIGITS = new MathContext(2);

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /**
     * A step of the test.
     *
     * @param rate its learning rate
     * @param loss mean over its batch, before the step
     * @param smoothed exponential moving average of the losses so far
     */
    public record Point(double rate, double loss, double smoothed) {}

    /**
     * Result of a test.
     *
     * @param stage 1 or 2
     * @param rate learning rate of the stage
     * @param found whether the test found it; false for the default rate
     * @param points its steps
     */
    public record Result(int stage, double rate, boolean found, List<Point> points) {
        public Result {
            points = List.copyOf(points);
        }

        /** Returns the learning rate without an exponent. */
        public String rateText() {
            return new BigDecimal(Double.toString(rate)).stripTrailingZeros().toPlainString();
        }

        /**
         * Reads the tests of a fold, one per stage.
         *
         * @throws IOException if the file is damaged
         */
        public static List<Result> read(Path file) throws IOException {
            try {
                return List.of(MAPPER.readValue(file.toFile(), Result[].class));
            } catch (JacksonException damaged) {
                throw new IOException(
                        file + ": expected the range tests of a run, found a damaged file; remove it", damaged);
            }
        }

        /** Writes the tests of a fold as JSON, atomically. */
        public static void write(Path file, List<Result> all) throws IOException {
            AtomicFile.put(file, partial -> Files.write(partial, MAPPER.writeValueAsBytes(all)));
        }
    }

    private final TrainingStage stage;
    private final TrainingProgress start;
    private final double fallback;
    private final int steps;

    /** @param start of the stage */
    LearningRateFinder(TrainingStage stage, TrainingProgress start) {
        this.stage = stage;
        this.start = start;
        this.fallback = stage.stageRecipe().rate();
        this.steps = (int) Math.min(MOST_STEPS, (long) stage.stageRecipe().epochs() * stage.stepsPerEpoch());
    }

    /**
     * Runs the test.
     *
     * @throws InterruptedTrainingException if the run is interrupted; the parameters are restored then, too
     */
    Result run() {
        List<Point> points = steps < FEWEST_STEPS ? List.of() : restoring();
        OptionalDouble rate = choose(points, steps);
        return new Result(start.stage(), rate.orElse(fallback), rate.isPresent(), points);
    }

    private List<Point> restoring() {
        Map<String, Parameter> parameters = stage.model().parameters();
        try (Snapshot before = Snapshot.of(parameters);
                Optimizer optimizer = stage.recipe().optimizer().create();
                Steps eager = stage.steps().eager(stage, optimizer, HeadRates.of(stage.stageRecipe(), start));
                // the stream of the training, which reuses its cached memory
                CudaStream _ = CudaStream.open(stage.model().model().device())) {
            try {
                return test(eager);
            } finally {
                before.restore(parameters);
            }
        }
    }

    private List<Point> test(Steps eager) {
        Smoothing smoothing = new Smoothing(steps);
        List<Point> points = new ArrayList<>();
        for (int epoch = 0; points.size() < steps; epoch++) {
            try (Steps.Epoch pass = eager.epoch(stage.order(epoch), stage.epochNumber(epoch))) {
                for (int step = 0; step < stage.stepsPerEpoch() && points.size() < steps; step++) {
                    stage.context().preparing(new TrainEvent.Solving("learning rate range test", points.size(), steps));
                    double rate = rate(fallback, points.size(), steps);
                    try {
                        double loss = loss(pass, step, rate);
                        points.add(new Point(rate, loss, smoothing.next(loss)));
                    } catch (NonFiniteLossException | LibtorchException failed) {
                        if (points.isEmpty()) {
                            throw failed; // not a matter of the learning rate
                        }
                        return points; // not finite, or a decomposition failed for that reason
                    }
                    if (smoothing.diverged()) {
                        return points;
                    }
                }
            }
        }
        return points;
    }

    private double loss(Steps.Epoch pass, int step, double rate) {
        TrainingProgress progress = start.stepped(EpochSums.NONE, step);
        // the arithmetic of training, which reuses the cuDNN algorithms
        return Libtorch.load()
                .with(stage.math(step), () -> pass.take(progress, _ -> rate))
                .sums()
                .meanLoss();
    }

    /** Returns the learning rate of a step of the test. */
    static double rate(double fallback, int step, int steps) {
        return fallback * LOWEST * StrictMath.pow(HIGHEST / LOWEST, (double) step / (steps - 1));
    }

    /** Moving average of the loss. */
    static final class Smoothing {
        private final double decay;
        private double sum;
        private double weight = 1;
        private double smoothed;
        private double least = Double.POSITIVE_INFINITY;

        /** @param steps of the whole test */
        Smoothing(int steps) {
            decay = decay(steps);
        }

        static double decay(int steps) {
            return StrictMath.pow(SMOOTHING, (double) MOST_STEPS / steps);
        }

        /** Returns the smoothed loss after one more step. */
        double next(double loss) {
            sum = decay * sum + (1 - decay) * loss;
            weight *= decay;
            smoothed = sum / (1 - weight);
            least = Math.min(least, smoothed);
            return smoothed;
        }

        boolean diverged() {
            return smoothed > DIVERGED * least;
        }
    }

    /**
     * Returns the learning rate by the rule of this class; empty for the default rate.
     *
     * @param points steps of a test, which may have stopped early
     * @param steps of a complete test
     *
     */
    static OptionalDouble choose(List<Point> points, int steps) {
        int first = steps / 3;
        int half = Math.max(1, steps / 20);
        OptionalInt lowest = IntStream.range(first, points.size())
                .reduce((a, b) -> points.get(b).smoothed() < points.get(a).smoothed() ? b : a);
        if (lowest.isEmpty()
                || points.get(lowest.getAsInt()).smoothed()
                        > (1 - LEAST_DESCENT) * points.get(first).smoothed()) {
            return OptionalDouble.empty();
        }
        int end = Math.min(lowest.getAsInt(), points.size() - 1 - half);
        OptionalInt steepest = IntStream.rangeClosed(Math.max(first, half), end)
                .reduce((a, b) -> change(points, b, half) < change(points, a, half) ? b : a);
        if (steepest.isEmpty()
                || change(points, steepest.getAsInt(), half) > -SIGNIFICANT * noise(points, steps, half)) {
            return OptionalDouble.empty();
        }
        BigDecimal rate = new BigDecimal(points.get(steepest.getAsInt()).rate() / MARGIN);
        return OptionalDouble.of(rate.round(DIGITS).doubleValue());
    }

    /** Returns the standard deviation of {@link #change} by noise alone. */
    private static double noise(List<Point> points, int steps, int half) {
        double[] losses =
                points.stream().limit(steps / 3).mapToDouble(Point::loss).toArray();
        double mean = Arrays.stream(losses).average().orElse(0);
        double squares =
                Arrays.stream(losses).map(loss -> (loss - mean) * (loss - mean)).sum();
        double decay = Smoothing.decay(steps);
        return Math.sqrt(2
                * (1 - Math.pow(decay, 2 * half))
                * (1 - decay)
                / (1 + decay)
                * squares
                / Math.max(1, losses.length - 1));
    }

    private static double change(List<Point> points, int at, int half) {
        return points.get(at + half).smoothed() - points.get(at - half).smoothed();
    }
}
