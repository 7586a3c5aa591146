package org.gramian.train.loop;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.CapturedWork;
import org.gramian.tensor.CudaStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.GpuStepState;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.feature.FeatureTable;

/**
 * Steps on a GPU, given to it several at a time: each is {@link CapturedWork} over what a {@link BatchSource} brings, and the host looks
 * at the {@link GpuStepState} when they are over.
 *
 * <p>Once a step goes wrong, those behind it do nothing; the host then takes that step by {@link EagerSteps}, which either
 * can, or says what is wrong, with the parameters as they were.
 */
final class CudaGraphSteps implements Steps {
    private final StageLoop.Setup setup;
    private final EagerSteps single;
    private final Source source;
    private final BatchSource feed;
    private final List<ParameterGroup> moved;
    private final CudaStream stream;
    private final GpuStepState cells;
    private final CudaGraphOptimizer optimizer;
    private final Tensor order;
    private final Tensor labels;
    private final Tensor targets;
    private final Map<Integer, Work> works = new HashMap<>();
    private final Optional<BatchMixing.OnDevice> mixing;

    CudaGraphSteps(StageLoop.Setup setup, Optimizer optimizer, HeadRates rates, EagerSteps single) {
        this.setup = setup;
        this.single = single;
        this.source = single.source();
        this.feed = feed(setup, source).orElseThrow();
        this.moved = setup.trainee().moved(rates);
        Device device = setup.trainee().model().device();
        try (Scope scope = Scope.open()) {
            int count = source.examples().count();
            int classes = setup.trainee().model().head().classes();
            long[] all = IntStream.range(0, count)
                    .mapToLong(source.examples()::label)
                    .toArray();
            order = Tensors.empty(Shape.of(count), DType.I64, device);
            labels = Tensors.to(Tensors.ofLongs(all, Shape.of(count)), device);
            targets = source.targets().apply(IntStream.range(0, classes).toArray());
            cells = new GpuStepState(device);
            List.of(order, labels, targets).forEach(scope::release);
        }
        this.optimizer = new CudaGraphOptimizer(optimizer, cells);
        this.mixing = BatchMixing.of(setup).map(mix -> mix.on(device, source.examples()));
        this.stream = CudaStream.open(device); // last: nothing that fails may leave it open
    }

    /** Whether a stage can be trained like this. */
    static boolean suits(StageLoop.Setup setup, Source source, HeadRates rates) {
        return feed(setup, source).isPresent()
                && setup.recipe().batching().accumulate() == 1
                && !setup.trainee().model().head().normalized()
                && CudaGraphOptimizer.suits(
                        setup.trainee().moved(rates), setup.recipe().optimizer().rule());
    }

    private static Optional<BatchSource> feed(StageLoop.Setup setup, Source source) {
        return switch (source.examples()) {
            case FeatureExamples(FeatureTable table)
            when table.isResident() -> Optional.of(ResidentBatchSource.of(table));
            case StoredExamples stored when stored.isResident() -> Optional.of(ResidentBatchSource.of(stored));
            case LoadedExamples images -> Optional.of(new RenderedBatchSource(images, setup.stride()));
            default -> Optional.empty();
        };
    }

    @Override
    public Epoch epoch(int[] places, long epoch) {
        try (Scope _ = Scope.open()) {
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            Views.slice(order, 0, 0, wide.length).copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
        }
        feed.turnTo(places, 0, epoch);
        return new Recorded(places, epoch);
    }

    private final class Recorded implements Epoch {
        private final int[] places;
        private final long number;
        private int next;
        private int ahead = feed.stepsAtOnce();

        Recorded(int[] places, long number) {
            this.places = places;
            this.number = number;
        }

        @Override
        public Taken take(TrainingProgress position, IntToDoubleFunction rate) {
            int batch = Math.min(setup.stride(), places.length - next);
            int count = Math.min(ahead, (places.length - next) / batch);
            Work work = works.computeIfAbsent(batch, Work::new);
            cells.begin(next);
            cells.setDropout(setup.dropout(position.epoch()).key());
            for (int i = 0; i < count; i++) {
                int step = position.step() + i;
                optimizer.prepare(rate.applyAsDouble(step), i);
                mixing.ifPresent(mix -> mix.set(position, step));
                work.run();
            }
            GpuStepState.Outcome outcome = cells.read();
            optimizer.taken(outcome.steps());
            next += outcome.steps() * batch;
            EpochSums sums = position.sums().plusAll(outcome.loss(), outcome.right(), outcome.steps() * batch);
            ahead = outcome.wrong() ? 1 : feed.stepsAtOnce();
            return outcome.wrong()
                    ? alone(batch, position.stepped(sums, outcome.steps()), outcome.steps(), rate)
                    : new Taken(outcome.steps(), sums);
        }

        /** The step that went wrong, after some that did not. */
        private Taken alone(int batch, TrainingProgress position, int before, IntToDoubleFunction rate) {
            int[] of = Arrays.copyOfRange(places, next, next + batch);
            try (Epoch epoch = single.epoch(of, number)) {
                Taken taken = epoch.take(position, rate);
                next += batch;
                feed.turnTo(places, next, number);
                return new Taken(before + 1, taken.sums());
            }
        }

        @Override
        public void close() {
            feed.rest();
        }
    }

    /** A step over a batch of one size. */
    private final class Work implements AutoCloseable {
        private final BatchSource.Entrance entrance;
        private final Tensor places;
        private final Tensor batchLabels;
        private final CapturedWork repeated = new CapturedWork(order.device(), this::step);

        Work(int batch) {
            entrance = feed.entrance(batch);
            try (Scope scope = Scope.open()) {
                places = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                batchLabels = Tensors.zeros(Shape.of(batch), DType.I64, order.device());
                List.of(places, batchLabels).forEach(scope::release);
            }
        }

        void run() {
            entrance.bring();
            repeated.run();
        }

        private void step() {
            cells.nextPlaces(order, labels, places, batchLabels);
            try (Scope _ = Scope.open();
                    Tape tape = Tape.recording()) {
                BatchMixing.Rows plain = new BatchMixing.Rows(
                        entrance.input(places), Views.select(targets, 0, batchLabels), batchLabels);
                BatchMixing.Rows rows = mixing.map(mix -> mix.apply(plain)).orElse(plain);
                TrainableModel.Forward forward = setup.trainee()
                        .forward(
                                tape,
                                rows.input(),
                                descriptors -> setup.dropout(0).apply(descriptors, places, cells)); // key in the cells
                Var loss = Classification.crossEntropy(forward.scores(), rows.targets());
                cells.observe(forward.scores().value(), rows.labels(), loss.value());
                try (Gradients gradients = tape.backward(loss)) {
                    optimizer.step(moved, reached(forward, gradients));
                }
            }
        }

        @Override
        public void close() {
            repeated.close();
            entrance.close();
            places.close();
            batchLabels.close();
        }
    }

    private Map<Parameter, Tensor> reached(TrainableModel.Forward forward, Gradients gradients) {
        Map<Parameter, Tensor> reached = new LinkedHashMap<>();
        setup.trainee()
                .groups()
                .forEach((part, group) -> reached.putAll(
                        group.reached(Objects.requireNonNull(forward.variables().get(part)), gradients)));
        return reached;
    }

    @Override
    public void close() {
        try {
            stream.close(); // waits for what is under way
        } finally {
            feed.close();
            works.values().forEach(Work::close);
            mixing.ifPresent(BatchMixing.OnDevice::close);
            cells.close();
            order.close();
            labels.close();
            targets.close();
        }
    }
}
