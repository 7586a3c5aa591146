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
import org.gramian.tensor.Elementwise;
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
 * the host looks at the losses; elsewhere steps are eager.
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
    private TrainingImages.@Nullable Pass pass;
    private int[] order = {};
    private int next;

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
    void seek(int epoch, int step) {
        rest();
        order = Arrays.copyOf(images.order(epoch), images.steps() * images.batch());
        next = step * images.batch();
        images.seek(epoch);
        if (captured != null) {
            captured.setOrder(order);
        }
        if (!images.isResident()) {
            pass = images.pass(Arrays.copyOfRange(order, next, order.length), epoch);
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
        int left = (order.length - next) / images.batch();
        if (left == 0) {
            throw new IllegalStateException("the epoch is over");
        }
        int before = next;
        Taken taken = captured == null ? eager(rates) : captured.take(Math.min(AT_ONCE, left), rates);
        next = before + taken.steps * images.batch();
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

    private Taken eager(IntToDoubleFunction rates) {
        double[] sums = new double[PARTS];
        try (Scope _ = Scope.open()) {
            optimizer.setLearningRate(rates.applyAsDouble(0));
            gradients(
                    nextCrops(),
                    forward -> System.arraycopy(forward.parts().toDoubles(), 0, sums, 0, PARTS),
                    reached -> {
                        if (Arrays.stream(sums).allMatch(Double::isFinite)) {
                            optimizer.step(groups, reached);
                        }
                    });
        }
        return new Taken(1, sums);
    }

    /** Returns the next crops for an eager step, in the current scope. */
    private Tensor nextCrops() {
        if (pass != null) {
            return pass.next();
        }
        long[] wide =
                Arrays.stream(order, next, next + images.batch()).asLongStream().toArray();
        next += images.batch();
        return images.render(Tensors.to(Tensors.ofLongs(wide, Shape.of(wide.length)), device));
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
            Tensor crops, Consumer<Student.Forward> observer, Consumer<Map<Parameter, Tensor>> optimizerStep) {
        List<Teacher.Output> targets = targets(crops);
        try (Tape tape = Tape.recording()) {
            Student.Forward forward = student.forward(tape, studentInput.of(crops), targets);
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
        private final Tensor epochOrder;
        private final Tensor noLabels;
        private final Tensor batchLabels;
        private final Tensor noScores;
        private final Tensor sums;

        Captured() {
            int batch = images.batch();
            try (Scope scope = Scope.open()) {
                places = Tensors.zeros(Shape.of(batch), DType.I64, device);
                epochOrder = Tensors.zeros(Shape.of((long) images.steps() * batch), DType.I64, device);
                noLabels = Tensors.zeros(Shape.of(images.places()), DType.I64, device);
                batchLabels = Tensors.zeros(Shape.of(batch), DType.I64, device);
                noScores = Tensors.zeros(Shape.of(batch, 1), DType.F32, device);
                sums = Tensors.zeros(Shape.of(PARTS), DType.F32, device);
                tensors().forEach(scope::release);
            }
        }

        private List<Tensor> tensors() {
            return List.of(places, epochOrder, noLabels, batchLabels, noScores, sums);
        }

        void setOrder(int[] epoch) {
            try (Scope _ = Scope.open()) {
                long[] wide = Arrays.stream(epoch).asLongStream().toArray();
                epochOrder.copyFrom(Tensors.ofLongs(wide, Shape.of(wide.length)));
            }
        }

        Taken take(int count, IntToDoubleFunction rates) {
            cells.begin(next);
            Tensors.fill(sums, 0);
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
            cells.nextPlaces(epochOrder, noLabels, places, batchLabels);
            try (Scope _ = Scope.open()) {
                gradients(
                        images.render(places),
                        forward -> {
                            cells.observe(noScores, batchLabels, forward.total().value());
                            sums.copyFrom(Elementwise.add(sums, forward.parts()));
                        },
                        reached -> graphOptimizer.step(groups, reached));
            }
        }

        @Override
        public void close() {
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
            studentInput.close();
            teacherInputs.forEach(NetworkInput::close);
        }
    }
}
