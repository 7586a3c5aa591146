package org.gramian.train.loop;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.gramian.accelerate.Acceleration;
import org.gramian.accelerate.Rule;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.GpuStepState;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.loop.TrainingProgress.EpochSums;

/**
 * Steps on a GPU as a CUDA graph: captured once as {@link CapturedWork} over the batches of a {@link BatchSource}, then replayed several
 * at a time before the host reads the {@link GpuStepState}.
 *
 * <p>After a step with a non-finite value the queued ones do nothing. The host then repeats that step by {@link EagerSteps}, which
 * takes it or reports the origin of the value, with the parameters of before.
 */
final class CudaGraphSteps implements Steps {
    private final TrainingStage stage;
    private final EagerSteps eager;
    private final Source source;
    private final BatchSource batchSource;
    private final List<ParameterGroup> groups;
    private final CudaStream stream;
    private final GpuStepState cells;
    private final CudaGraphOptimizer optimizer;
    private final Tensor order;
    private final Tensor labels;
    private final Tensor targets;
    private final long pool = CudaGraph.newPool();
    private final Map<Integer, Work> works = new HashMap<>();
    private final Optional<BatchMixing.OnDevice> mixing;

    CudaGraphSteps(TrainingStage stage, Optimizer optimizer, HeadRates rates, EagerSteps eager) {
        this.stage = stage;
        this.eager = eager;
        this.source = eager.source();
        this.batchSource = batchSource(stage, source).orElseThrow();
        this.groups = stage.model().optimizedGroups(rates);
        Device device = stage.model().model().device();
        try (Scope scope = Scope.open()) {
            int count = source.examples().count();
            int classes = stage.model().model().head().classes();
            long[] all = IntStream.range(0, count)
                    .mapToLong(source.examples()::label)
                    .toArray();
            order = Tensors.empty(Shape.of(count), DType.I64, device);
            labels = Tensors.ofLongs(all, Shape.of(count)).to(device);
            targets = source.targets().apply(IntStream.range(0, classes).toArray());
            cells = new GpuStepState(device);
            List.of(order, labels, targets).forEach(scope::release);
        }
        this.optimizer = new CudaGraphOptimizer(optimizer, cells);
        this.mixing = BatchMixing.of(stage).map(mix -> mix.on(device, source.examples()));
        this.stream = CudaStream.open(device); // last: nothing that fails may leave it open
    }

    /** Whether the steps of a stage can be captured. */
    static boolean suits(TrainingStage stage, Source source, HeadRates rates) {
        return Rule.OPTIMIZER.isEnabled()
                && batchSource(stage, source).isPresent()
                && stage.recipe().batching().accumulate() == 1
                && !stage.model().model().head().normalized()
                && !stage.model().drawsAtRandom()
                && CudaGraphOptimizer.suits(
                        stage.model().optimizedGroups(rates),
                        stage.recipe().optimizer().rule());
    }

    private static Optional<BatchSource> batchSource(TrainingStage stage, Source source) {
        return switch (source.examples()) {
            case FeatureExamples(FeatureTable table)
            when table.isResident() -> Optional.of(BatchSource.Resident.of(table));
            case StoredExamples stored when stored.isResident() -> Optional.of(BatchSource.Resident.of(stored));
            case LoadedExamples images -> Optional.of(new BatchSource.Rendered(images, stage.stepSize()));
            default -> Optional.empty();
        };
    }

    @Override
    public Epoch epoch(int[] places, long epoch) {
        try (Scope _ = Scope.open()) {
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            order.slice(0, 0, wide.length).copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
        }
        batchSource.seek(places, 0, epoch);
        return new ReplayedEpoch(places, epoch);
    }

    private final class ReplayedEpoch implements Epoch {
        private final int[] places;
        private final long number;
        private int next;
        private int ahead = batchSource.stepsAtOnce();

        ReplayedEpoch(int[] places, long number) {
            this.places = places;
            this.number = number;
        }

        @Override
        public Taken take(TrainingProgress progress, IntToDoubleFunction learningRate) {
            int batch = Math.min(stage.stepSize(), places.length - next);
            int count = Math.min(ahead, (places.length - next) / batch);
            Work work = works.computeIfAbsent(batch, Work::new);
            cells.begin(next);
            cells.setDropout(stage.dropout(progress.epoch()).key());
            for (int i = 0; i < count; i++) {
                int step = progress.step() + i;
                optimizer.prepare(learningRate.applyAsDouble(step), i);
                mixing.ifPresent(mix -> mix.set(progress, step));
                work.run();
            }
            GpuStepState.Outcome outcome = cells.read();
            optimizer.taken(outcome.steps());
            next += outcome.steps() * batch;
            EpochSums sums = progress.sums().plusSum(outcome.loss(), outcome.correct(), outcome.steps() * batch);
            ahead = outcome.wrong() ? 1 : batchSource.stepsAtOnce();
            return outcome.wrong()
                    ? alone(batch, progress.stepped(sums, outcome.steps()), outcome.steps(), learningRate)
                    : new Taken(outcome.steps(), sums);
        }

        /** Repeats the step with a non-finite value eagerly, after some that were taken. */
        private Taken alone(int batch, TrainingProgress progress, int before, IntToDoubleFunction learningRate) {
            int[] of = Arrays.copyOfRange(places, next, next + batch);
            try (Epoch epoch = eager.epoch(of, number)) {
                Taken taken = epoch.take(progress, learningRate);
                next += batch;
                batchSource.seek(places, next, number);
                return new Taken(before + 1, taken.sums());
            }
        }

        @Override
        public void close() {
            batchSource.rest();
        }
    }

    /** The captured step over batches of one size. */
    private final class Work implements AutoCloseable {
        private final BatchSource.BatchInput batches;
        private final Tensor places;
        private final Tensor batchLabels;
        private final CapturedWork repeated = new CapturedWork(order.device(), pool, this::step);

        Work(int batch) {
            batches = batchSource.input(batch);
            try (Scope scope = Scope.open()) {
                places = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                batchLabels = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                List.of(places, batchLabels).forEach(scope::release);
            }
        }

        void run() {
            batches.upload();
            repeated.run();
        }

        private void step() {
            cells.nextPlaces(order, labels, places, batchLabels);
            try (Scope _ = Scope.open()) {
                BatchMixing.Rows plain =
                        new BatchMixing.Rows(batches.input(places), targets.select(0, batchLabels), batchLabels);
                BatchMixing.Rows rows = mixing.map(mix -> mix.apply(plain)).orElse(plain);
                try (Scheduler scheduler = Acceleration.scheduler(order.device());
                        BatchGradient gradient = new BatchGradient(
                                scheduler,
                                stage.model(),
                                rows.input(),
                                rows.targets(),
                                descriptors ->
                                        stage.dropout(0).apply(descriptors, places, cells))) { // key in the cells
                    cells.observe(gradient.scores(), rows.labels(), gradient.loss());
                    gradient.registerHooks(optimizer, groups);
                    gradient.backward(1, (reached, gradients) -> {
                        Map<Parameter, Tensor> tensors = new LinkedHashMap<>();
                        reached.forEach((parameter, variable) -> tensors.put(parameter, gradients.of(variable)));
                        optimizer.step(groups, tensors);
                    });
                }
            }
        }

        @Override
        public void close() {
            repeated.close();
            batches.close();
            places.close();
            batchLabels.close();
        }
    }

    @Override
    public void close() {
        try {
            stream.close(); // waits for what is under way
        } finally {
            batchSource.close();
            optimizer.close();
            works.values().forEach(Work::close);
            mixing.ifPresent(BatchMixing.OnDevice::close);
            cells.close();
            order.close();
            labels.close();
            targets.close();
        }
    }
}
