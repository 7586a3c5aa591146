package org.gramian.train.loop;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.CudaStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.RepeatedWork;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.train.ParameterGroup;
import org.gramian.train.RecordedSgd;
import org.gramian.train.Sgd;
import org.gramian.train.StepCells;
import org.gramian.train.feature.FeatureTable;

/**
 * Steps over features that lie in the memory of a GPU, given to it many at a time: each is {@link RepeatedWork} that finds its
 * own examples, and the host looks at the {@link StepCells} when they are over.
 *
 * <p>Once a step goes wrong, those behind it do nothing; the host then takes that step by {@link SingleSteps}, which either
 * can, or says what is wrong, with the parameters as they were.
 */
final class RecordedSteps implements Steps {
    /** Steps between two looks: about 30 ms, soon enough for progress and Ctrl-C. */
    private static final int MOST = 32;

    private final StageLoop.Setup setup;
    private final SingleSteps single;
    private final FeatureTable table;
    private final List<ParameterGroup> moved;
    private final CudaStream stream;
    private final StepCells cells;
    private final RecordedSgd sgd;
    private final Tensor order;
    private final Tensor labels;
    private final Tensor targets;
    private final Map<Integer, Work> works = new HashMap<>();

    RecordedSteps(StageLoop.Setup setup, Sgd sgd, HeadRates rates, SingleSteps single) {
        this.setup = setup;
        this.single = single;
        this.table = ((FeatureExamples) setup.examples()).table();
        this.moved = setup.trainee().moved(rates);
        Device device = setup.trainee().model().device();
        this.stream = CudaStream.open(device);
        this.cells = new StepCells(device);
        this.sgd = new RecordedSgd(sgd, cells);
        try (Scope _ = Scope.open()) {
            int classes = setup.trainee().model().head().classes();
            long[] all = IntStream.range(0, table.count())
                    .mapToLong(
                            place -> table.samples().get(place / table.crops()).label())
                    .toArray();
            order = own(Tensors.empty(Shape.of(table.count()), DType.I64, device));
            labels = own(Tensors.to(Tensors.ofLongs(all, Shape.of(all.length)), device));
            targets = own(setup.targets().apply(IntStream.range(0, classes).toArray()));
        }
    }

    /** Whether a stage can be trained like this. */
    static boolean suits(StageLoop.Setup setup, HeadRates rates) {
        return setup.examples() instanceof FeatureExamples(FeatureTable features)
                && features.isResident()
                && setup.recipe().batching().accumulate() == 1
                && !setup.trainee().model().head().normalized()
                && RecordedSgd.suits(
                        setup.trainee().moved(rates), setup.recipe().sgd());
    }

    private static Tensor own(Tensor tensor) {
        Scope.detach(tensor);
        return tensor;
    }

    @Override
    public Epoch epoch(int[] places) {
        try (Scope _ = Scope.open()) {
            long[] wide = Arrays.stream(places).asLongStream().toArray();
            Views.slice(order, 0, 0, wide.length).copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
        }
        return new Recorded(places);
    }

    private final class Recorded implements Epoch {
        private final int[] places;
        private int next;
        private int ahead = MOST;

        Recorded(int[] places) {
            this.places = places;
        }

        @Override
        public Taken take(Position position, IntToDoubleFunction rate) {
            int batch = Math.min(setup.stride(), places.length - next);
            int count = Math.min(ahead, (places.length - next) / batch);
            Work work = works.computeIfAbsent(batch, Work::new);
            cells.begin(next);
            for (int i = 0; i < count; i++) {
                cells.setRate(rate.applyAsDouble(position.step() + i));
                work.repeated.run();
            }
            StepCells.Outcome outcome = cells.read();
            next += outcome.steps() * batch;
            EpochSums sums = position.sums().plusAll(outcome.loss(), outcome.right(), outcome.steps() * batch);
            ahead = outcome.wrong() ? 1 : MOST;
            return outcome.wrong()
                    ? alone(batch, position.stepped(sums, outcome.steps()), outcome.steps(), rate)
                    : new Taken(outcome.steps(), sums);
        }

        /** The step that went wrong, after some that did not. */
        private Taken alone(int batch, Position position, int before, IntToDoubleFunction rate) {
            int[] of = Arrays.copyOfRange(places, next, next + batch);
            try (Epoch epoch = single.epoch(of)) {
                Taken taken = epoch.take(position, rate);
                next += batch;
                return new Taken(before + 1, taken.sums());
            }
        }

        @Override
        public void close() {}
    }

    /** A step over a batch of one size. */
    private final class Work implements AutoCloseable {
        private final Tensor places;
        private final Tensor batchLabels;
        private final RepeatedWork repeated = new RepeatedWork(order.device(), this::step);

        Work(int batch) {
            try (Scope _ = Scope.open()) {
                places = own(Tensors.zeros(Shape.of(batch), DType.I64, order.device()));
                batchLabels = own(Tensors.zeros(Shape.of(batch), DType.I64, order.device()));
            }
        }

        private void step() {
            cells.nextPlaces(order, labels, places, batchLabels);
            try (Scope _ = Scope.open();
                    Tape tape = Tape.recording()) {
                Trainee.Forward forward = setup.trainee().forward(tape, table.rows(places));
                Var loss = Classification.crossEntropy(forward.scores(), Views.select(targets, 0, batchLabels));
                cells.observe(forward.scores().value(), batchLabels, loss.value());
                try (Gradients gradients = tape.backward(loss)) {
                    sgd.step(moved, reached(forward, gradients));
                }
            }
        }

        @Override
        public void close() {
            repeated.close();
            places.close();
            batchLabels.close();
        }
    }

    private Map<Parameter, Tensor> reached(Trainee.Forward forward, Gradients gradients) {
        Map<Parameter, Tensor> reached = new LinkedHashMap<>();
        setup.trainee()
                .groups()
                .forEach((part, group) -> reached.putAll(
                        group.reached(Objects.requireNonNull(forward.variables().get(part)), gradients)));
        return reached;
    }

    @Override
    public void close() {
        stream.close(); // waits for what is under way
        works.values().forEach(Work::close);
        cells.close();
        order.close();
        labels.close();
        targets.close();
    }
}
