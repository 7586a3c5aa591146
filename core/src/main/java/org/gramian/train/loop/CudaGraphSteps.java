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
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
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
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.StageProgress.EpochSums;
import org.gramian.train.loop.Steps.StepResult;

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
    private final BatchSource batchSource;
    private final List<ParameterGroup> groups;
    private final CudaStream stream;
    private final GpuStepState cells;
    private final CudaGraphOptimizer optimizer;
    private final Tensor order;
    private final Tensor labels;
    private final Tensor targets;
    private final long pool = CudaGraph.newPool();
    private final Map<Integer, CapturedStep> captured = new HashMap<>();
    private final Optional<BatchMixing.OnDevice> mixing;
    private int[] indices = {};
    private long epoch;
    private int next;
    private int ahead;

    CudaGraphSteps(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups, EagerSteps eager) {
        this.stage = stage;
        this.eager = eager;
        this.batchSource = batchSource(stage).orElseThrow();
        this.groups = groups;
        Device device = stage.context().device();
        try (Scope scope = Scope.open()) {
            int count = stage.crops();
            long[] all =
                    IntStream.range(0, count).mapToLong(stage.examples()::label).toArray();
            order = Tensors.empty(Shape.of(count), DType.I64, device);
            labels = Tensors.ofLongs(all, Shape.of(count)).to(device);
            int[] classes = IntStream.range(0, stage.targets().classes()).toArray();
            targets = stage.targets().rows(classes, device);
            cells = new GpuStepState(device);
            List.of(order, labels, targets).forEach(scope::release);
        }
        this.optimizer = new CudaGraphOptimizer(optimizer, cells);
        this.mixing = BatchMixing.of(stage).map(mix -> mix.on(device, stage.examples()));
        this.stream = CudaStream.open(device); // last: nothing that fails may leave it open
    }

    static boolean isSupported(TrainingStage stage, List<ParameterGroup> groups) {
        return Rule.OPTIMIZER.isEnabled()
                && batchSource(stage).isPresent()
                && stage.recipe().batching().accumulate() == 1
                && stage.model().isCapturable()
                && CudaGraphOptimizer.isSupported(
                        groups, stage.recipe().optimizer().rule());
    }

    private static Optional<BatchSource> batchSource(TrainingStage stage) {
        return switch (stage.examples()) {
            case Examples.Features(FeatureTable table)
            when table.isResident() -> Optional.of(new BatchSource.Resident(32, _ -> {}, table::rows)); // about 30 ms
            case StoredExamples stored
            when stored.isResident() -> Optional.of(new BatchSource.Resident(8, stored::seek, stored::render));
            case LoadedExamples images -> Optional.of(new BatchSource.Rendered(images, stage.stepSize()));
            default -> Optional.empty();
        };
    }

    @Override
    public void startEpoch(int[] left, long number) {
        try (Scope _ = Scope.open()) {
            long[] wide = Arrays.stream(left).asLongStream().toArray();
            order.slice(0, 0, wide.length).copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
        }
        indices = left;
        epoch = number;
        next = 0;
        ahead = batchSource.stepsAtOnce();
        batchSource.seek(left, 0, number);
    }

    @Override
    public StepResult step(StageProgress progress, IntToDoubleFunction learningRate) {
        int batch = Math.min(stage.stepSize(), indices.length - next);
        int count = Math.min(ahead, (indices.length - next) / batch);
        CapturedStep work = captured.computeIfAbsent(batch, CapturedStep::new);
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
        StepResult result = new StepResult(outcome.steps(), sums);
        if (outcome.wrong()) {
            result = repeatEagerly(batch, progress.stepped(result), outcome.steps(), learningRate);
        }
        if (next == indices.length) {
            batchSource.rest();
        }
        return result;
    }

    /** Repeats the step with a non-finite value eagerly, after some that were taken. */
    private StepResult repeatEagerly(int batch, StageProgress progress, int before, IntToDoubleFunction learningRate) {
        eager.startEpoch(Arrays.copyOfRange(indices, next, next + batch), epoch);
        StepResult result = eager.step(progress, learningRate);
        next += batch;
        if (next < indices.length) {
            batchSource.seek(indices, next, epoch);
        }
        return new StepResult(before + 1, result.sums());
    }

    /** The captured step over batches of one size. */
    private final class CapturedStep implements AutoCloseable {
        private final Tensor batchIndices;
        private final Tensor batchLabels;
        private final CapturedWork repeated = new CapturedWork(order.device(), pool, this::step);

        CapturedStep(int batch) {
            try (Scope scope = Scope.open()) {
                batchIndices = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                batchLabels = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                List.of(batchIndices, batchLabels).forEach(scope::release);
            }
        }

        void run() {
            batchSource.upload(Math.toIntExact(batchIndices.size(0)));
            repeated.run();
        }

        private void step() {
            cells.nextPlaces(order, labels, batchIndices, batchLabels);
            try (Scope _ = Scope.open()) {
                BatchMixing.Rows plain = new BatchMixing.Rows(
                        batchSource.input(batchIndices), targets.select(0, batchLabels), batchLabels);
                BatchMixing.Rows rows = mixing.map(mix -> mix.apply(plain)).orElse(plain);
                try (Scheduler scheduler = Acceleration.scheduler(order.device());
                        Tape tape = Tape.recording(scheduler)) {
                    Trainable.Loss loss = stage.model()
                            .loss(
                                    tape,
                                    rows.input(),
                                    rows.targets(),
                                    descriptors -> stage.dropout(0)
                                            .apply(descriptors, batchIndices, cells)); // key in the cells
                    cells.observe(loss.scores(), rows.labels(), loss.value().value());
                    optimizer.registerHooks(tape, groups, loss.variables());
                    try (Gradients gradients = loss.backward(1)) {
                        Map<Parameter, Tensor> tensors = new LinkedHashMap<>();
                        loss.variables().forEach((parameter, variable) -> {
                            if (gradients.has(variable)) {
                                tensors.put(parameter, gradients.of(variable));
                            }
                        });
                        optimizer.step(groups, tensors);
                    }
                }
            }
        }

        @Override
        public void close() {
            repeated.close();
            batchIndices.close();
            batchLabels.close();
        }
    }

    @Override
    public void close() {
        try {
            stream.close(); // waits for what is under way
        } finally {
            batchSource.rest();
            optimizer.close();
            captured.values().forEach(CapturedStep::close);
            batchSource.close();
            eager.close();
            mixing.ifPresent(BatchMixing.OnDevice::close);
            cells.close();
            order.close();
            labels.close();
            targets.close();
        }
    }
}
