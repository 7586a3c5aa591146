package org.gramian.train.distill;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.GpuStepState;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;

/**
 * Training steps of a distillation: crops, the frozen teachers, the student's losses and gradients, and the optimizer.
 *
 * <p>Where the decoded images lie in GPU memory, a whole step is captured as a CUDA graph and replayed {@value #AT_ONCE} times before
 * the host looks at the losses; elsewhere steps are eager. Crops that are used in several steps lie in a {@link CropMemory}; they are
 * rendered, and the teachers applied to them, outside of the graph.
 */
final class DistillSteps implements AutoCloseable {
    /** Captured steps between two looks of the host, at about 0.1 s each. */
    private static final int AT_ONCE = 8;

    /** Batches from which mean and deviation of the teachers' channels are measured. */
    private static final int MEASURED_BATCHES = 4;

    /** Number of values of {@link Student.Forward#parts}. */
    static final int PARTS = 4;

    private final Student student;
    private final List<Teacher> teachers;
    private final TrainingImages images;
    private final DistillOptions options;
    private final Optimizer optimizer;
    private final Device device;
    private final List<ParameterGroup> groups;
    private final NetworkInput studentInput;
    private final List<NetworkInput> teacherInputs = new ArrayList<>();
    private final CudaStream stream;
    private final @Nullable Captured captured;
    private final @Nullable CropMemory memory;
    private TrainingImages.@Nullable Pass pass;
    private int epoch;
    private int[] order = {};
    /** Steps of the epoch that are taken. */
    private int step;
    /** Crops of the epoch's order that were rendered. */
    private int rendered;

    DistillSteps(
            Student student,
            List<Teacher> teachers,
            TrainingImages images,
            DistillOptions options,
            Optimizer optimizer,
            Device device) {
        this.student = student;
        this.teachers = teachers;
        this.images = images;
        this.options = options;
        this.optimizer = optimizer;
        this.device = device;
        this.groups = List.of(ParameterGroup.of(student.backbone()), ParameterGroup.of(student.matching()));
        DType type = options.precision() == Precision.BF16 ? DType.BF16 : DType.F32;
        this.studentInput =
                new NetworkInput(options.imageSize(), student.network().preprocessing(), type, device);
        for (Teacher teacher : teachers) {
            teacherInputs.add(new NetworkInput(options.teacherSize(), teacher.preprocessing(), type, device));
        }
        this.memory = options.reuse() == 1 ? null : CropMemory.of(teachers, images, options, type, device);
        boolean capturable = images.isResident() && CudaGraphOptimizer.suits(groups, optimizer.options());
        this.captured = capturable ? new Captured() : null;
        this.stream = CudaStream.open(device); // last: nothing that fails may leave it open
    }

    /**
     * Steps that were taken.
     *
     * @param steps at least one
     * @param sums of each of {@link Student.Forward#parts} over the steps
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Taken(int steps, double[] sums) {}

    /** A batch as the networks saw or see it: the student's input, and what each teacher computed. */
    record Batch(Tensor input, List<Teacher.Output> targets) {}

    /** Returns the number of steps of an epoch, in which each image is rendered once. */
    int count() {
        return images.steps() * options.reuse();
    }

    /** Measures mean and standard deviation of the teachers' channels on the first batches of the first epoch. */
    void measureTargets() {
        int batches = Math.min(MEASURED_BATCHES, images.steps());
        seek(0, 0);
        try (Scope _ = Scope.open()) {
            List<List<Teacher.Output>> outputs = new ArrayList<>();
            for (int i = 0; i < batches; i++) {
                try (Scope scope = Scope.open()) {
                    List<Teacher.Output> targets = targets(nextCrops());
                    outputs.add(
                            targets.stream().map(target -> target.keptBy(scope)).toList());
                }
            }
            student.measureTargets(outputs, options.imageSize());
        } finally {
            rest();
        }
    }

    /** Begins at a step of an epoch. */
    void seek(int newEpoch, int newStep) {
        rest();
        epoch = newEpoch;
        step = newStep;
        order = Arrays.copyOf(images.order(epoch), images.steps() * images.batch());
        rendered = memory == null ? step * images.batch() : memory.seek(step) * images.batch();
        images.seek(epoch);
        if (!images.isResident()) {
            pass = images.pass(Arrays.copyOfRange(order, rendered, order.length), epoch);
        }
        if (captured != null && memory == null) {
            captured.setOrder(order);
        }
    }

    /** Stops the threads that render crops. */
    void rest() {
        if (pass != null) {
            pass.close();
            pass = null;
        }
    }

    /**
     * Takes the next step of the epoch, or several.
     *
     * @param rates learning rate of each of these steps, from 0
     * @throws IllegalStateException if the loss or a gradient is NaN or infinite
     */
    Taken take(IntToDoubleFunction rates) {
        int left = count() - step;
        if (left == 0) {
            throw new IllegalStateException("the epoch is over");
        }
        int most = captured == null ? 1 : Math.min(AT_ONCE, left);
        if (memory != null) {
            most = remember(memory, most);
        }
        Taken taken = captured == null ? eager(rates) : captured.take(most, rates);
        step += taken.steps;
        for (double sum : taken.sums) {
            if (!Double.isFinite(sum)) {
                throw new IllegalStateException("the loss is NaN or infinite after " + optimizer.steps()
                        + " steps: start again with a lower --lr, or with --precision f32");
            }
        }
        if (options.ema() > 0) {
            double decay = Math.min(options.ema(), (1.0 + optimizer.steps()) / (10.0 + optimizer.steps()));
            student.average(StrictMath.pow(decay, taken.steps));
        }
        return taken;
    }

    /**
     * Renders the crops of the next steps, and those before them that are used again, where they are not in memory.
     *
     * @return number of steps that can be taken, at most those wanted
     */
    private int remember(CropMemory crops, int wanted) {
        int possible = crops.begin(epoch, step, wanted);
        while (crops.missing() > 0) {
            try (Scope _ = Scope.open()) {
                crops.add(fresh(nextCrops()));
            }
        }
        if (captured != null && crops.isNewOrder()) {
            captured.setOrder(crops.order());
        }
        return possible;
    }

    private Taken eager(IntToDoubleFunction rates) {
        double[] sums = new double[PARTS];
        try (Scope _ = Scope.open()) {
            optimizer.setLearningRate(rates.applyAsDouble(0));
            gradients(
                    memory == null ? fresh(nextCrops()) : memory.get(places(memory.order(), memory.first())),
                    forward -> System.arraycopy(forward.parts().toDoubles(), 0, sums, 0, PARTS),
                    reached -> {
                        if (Arrays.stream(sums).allMatch(Double::isFinite)) {
                            optimizer.step(groups, reached);
                        }
                    });
        }
        return new Taken(1, sums);
    }

    /** Renders the next crops of the epoch outside of a CUDA graph, in the current scope. */
    private Tensor nextCrops() {
        int first = rendered;
        rendered += images.batch();
        return pass != null ? pass.next() : images.render(places(order, first));
    }

    private Tensor places(int[] from, int first) {
        long[] wide = Arrays.stream(from, first, first + images.batch())
                .asLongStream()
                .toArray();
        return Tensors.ofLongs(wide, Shape.of(wide.length)).to(device);
    }

    private Batch fresh(Tensor crops) {
        List<Teacher.Output> targets = targets(crops);
        return new Batch(studentInput.of(crops), targets);
    }

    private List<Teacher.Output> targets(Tensor crops) {
        List<Teacher.Output> outputs = new ArrayList<>();
        for (int i = 0; i < teachers.size(); i++) {
            try (Scope scope = Scope.open()) {
                outputs.add(
                        teachers.get(i).apply(teacherInputs.get(i).of(crops)).keptBy(scope));
            }
        }
        return outputs;
    }

    /** Computes losses and gradients of a batch. */
    private void gradients(
            Batch batch, Consumer<Student.Forward> observer, Consumer<Map<Parameter, Tensor>> optimizerStep) {
        try (Tape tape = Tape.recording()) {
            Student.Forward forward = student.forward(tape, batch.input, batch.targets);
            observer.accept(forward);
            try (Gradients gradients = tape.backward(forward.total())) {
                Map<Parameter, Tensor> reached = new LinkedHashMap<>();
                forward.variables().forEach((parameter, variable) -> {
                    if (gradients.has(variable)) {
                        reached.put(parameter, gradients.of(variable));
                    }
                });
                optimizerStep.accept(reached);
            }
        }
    }

    /** Steps as a CUDA graph. */
    private final class Captured implements AutoCloseable {
        private final GpuStepState cells = new GpuStepState(device);
        private final CudaGraphOptimizer graphOptimizer = new CudaGraphOptimizer(optimizer, cells);
        private final CapturedWork work = new CapturedWork(device, this::step);
        private final Tensor places;
        private final Tensor indexOrder;
        private final Tensor noLabels;
        private final Tensor batchLabels;
        private final Tensor noScores;
        private final Tensor sums;

        Captured() {
            int batch = images.batch();
            int length = memory == null ? images.steps() * batch : memory.order().length;
            int most = memory == null ? images.places() : memory.rows();
            try (Scope scope = Scope.open()) {
                places = Tensors.zeros(Shape.of(batch), DType.I64, device);
                indexOrder = Tensors.zeros(Shape.of(length), DType.I64, device);
                noLabels = Tensors.zeros(Shape.of(most), DType.I64, device);
                batchLabels = Tensors.zeros(Shape.of(batch), DType.I64, device);
                noScores = Tensors.zeros(Shape.of(batch, 1), DType.F32, device);
                sums = Tensors.zeros(Shape.of(PARTS), DType.F32, device);
                tensors().forEach(scope::release);
            }
        }

        private List<Tensor> tensors() {
            return List.of(places, indexOrder, noLabels, batchLabels, noScores, sums);
        }

        void setOrder(int[] indices) {
            try (Scope _ = Scope.open()) {
                long[] wide = Arrays.stream(indices).asLongStream().toArray();
                indexOrder.copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
            }
        }

        Taken take(int count, IntToDoubleFunction rates) {
            cells.begin(memory == null ? step * images.batch() : memory.first());
            sums.fill(0);
            for (int i = 0; i < count; i++) {
                graphOptimizer.prepare(rates.applyAsDouble(i), i);
                work.run();
            }
            GpuStepState.Outcome outcome = cells.read();
            graphOptimizer.taken(outcome.steps());
            double[] parts = sums.toDoubles();
            if (outcome.wrong()) {
                Arrays.fill(parts, Double.NaN);
            }
            return new Taken(Math.max(1, outcome.steps()), parts);
        }

        private void step() {
            cells.nextPlaces(indexOrder, noLabels, places, batchLabels);
            try (Scope _ = Scope.open()) {
                gradients(
                        memory == null ? fresh(images.render(places)) : memory.get(places),
                        forward -> {
                            cells.observe(noScores, batchLabels, forward.total().value());
                            sums.copyFrom(sums.add(forward.parts()));
                        },
                        reached -> graphOptimizer.step(groups, reached));
            }
        }

        @Override
        public void close() {
            graphOptimizer.close();
            work.close();
            cells.close();
            tensors().forEach(Tensor::close);
        }
    }

    @Override
    public void close() {
        try {
            stream.close(); // waits for what is under way
        } finally {
            rest();
            if (captured != null) {
                captured.close();
            }
            if (memory != null) {
                memory.close();
            }
            studentInput.close();
            teacherInputs.forEach(NetworkInput::close);
        }
    }
}
