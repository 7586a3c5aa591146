package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.accelerate.Acceleration;
import org.gramian.accelerate.Rule;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.GpuStepState;
import org.gramian.train.Optimizer;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.Sgd;
import org.gramian.train.StiefelOptions;
import org.jspecify.annotations.Nullable;

/** Repeated step of a {@link Task}: a forward pass, or a training step; replayed from a CUDA graph if possible. */
abstract sealed class Work implements AutoCloseable {
    final BenchModel model;

    /** Output or loss of the last step, on the device; a CUDA graph writes to the same memory each time. */
    private @Nullable Tensor last;

    private Work(BenchModel model) {
        this.model = model;
    }

    static Work of(Task task) {
        BenchModel model = new BenchModel(task);
        if (!task.trains()) {
            return new ForwardPass(model);
        }
        boolean captured = Rule.OPTIMIZER.isEnabled()
                && !model.groups().isEmpty()
                && CudaGraphOptimizer.isSupported(model.groups(), TrainingStep.OPTIONS);
        return captured ? new CapturedStep(model) : new EagerStep(model);
    }

    /** Returns values that all sides must agree in; called once, before the first {@link #run}. */
    abstract SequencedMap<String, Double> check();

    /** Runs one step; does not wait for the GPU. */
    abstract void run();

    /** Returns the losses of the next training steps. */
    List<Double> losses(int steps) {
        throw new IllegalArgumentException("a forward pass has no losses, found a request for " + steps);
    }

    final Tensor last() {
        if (last == null) {
            throw new IllegalStateException("no step was taken yet");
        }
        return last;
    }

    final Tensor keep(Tensor next) {
        Scope.detach(next);
        if (last != null) {
            last.close();
        }
        last = next;
        return next;
    }

    @Override
    public void close() {
        if (last != null) {
            last.close();
        }
        model.close();
    }

    /** Forward pass without gradients. */
    private static final class ForwardPass extends Work {
        private final CudaStream stream;
        private final CapturedWork work;

        ForwardPass(BenchModel model) {
            super(model);
            Device device = model.labels().device();
            stream = CudaStream.open(device);
            work = new CapturedWork(device, () -> {
                try (Tape tape = Tape.inference()) {
                    keep(model.forward(tape).output().value().alias());
                }
            });
        }

        @Override
        SequencedMap<String, Double> check() {
            SequencedMap<String, Double> values = new LinkedHashMap<>();
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor output = model.forward(tape).output().value();
                values.put("|output|", SyntheticValues.norm(output));
                values.put("|output of the first image|", SyntheticValues.norm(output.slice(0, 0, 1)));
            }
            return values;
        }

        @Override
        void run() {
            work.run();
        }

        @Override
        public void close() {
            stream.close();
            work.close();
            super.close();
        }
    }

    /**
     * Training step on a fixed batch: forward, loss, backward and update.
     *
     * <p>Sides must agree in the norm of every gradient, the losses of the first and the third step, and the norm of the first
     * update of each parameter. Later updates depend on rounding: with few positions, where the square root is steep, correct
     * programs differ by some percent.
     */
    private abstract static sealed class TrainingStep extends Work {
        /** As in {@code worker.py}; updates of W are large compared with rounding. */
        static final Sgd OPTIONS =
                new Sgd(0.1, 0.9, 5e-4, new StiefelOptions(0.1, Stiefel.Metric.CANONICAL, Retraction.QR));

        final Optimizer optimizer = new Optimizer(OPTIONS);
        final List<ParameterGroup> groups;

        TrainingStep(BenchModel model) {
            super(model);
            groups = model.groups();
        }

        /** Returns the loss of the last step, before its update; waits for the GPU. */
        abstract double loss();

        final Map<Parameter, Tensor> reached(BenchModel.Forward forward, Gradients gradients) {
            Map<Parameter, Tensor> reached = new LinkedHashMap<>();
            groups.forEach(group -> reached.putAll(group.reached(forward.variables(), gradients)));
            return reached;
        }

        @Override
        final List<Double> losses(int steps) {
            List<Double> losses = new ArrayList<>();
            for (int i = 0; i < steps; i++) {
                run();
                losses.add(loss());
            }
            return losses;
        }

        @Override
        final SequencedMap<String, Double> check() {
            try (Scope _ = Scope.open()) {
                SequencedMap<String, Double> values = gradients();
                List<Parameter> updated = groups.stream()
                        .flatMap(group -> group.parameters().all().stream())
                        .filter(parameter -> parameter.spec().role() != Role.FITTED)
                        .toList();
                List<Tensor> start = updated.stream()
                        .map(parameter -> parameter.value().copy())
                        .toList();
                values.put("loss", losses(1).getFirst());
                for (int i = 0; i < start.size(); i++) {
                    Tensor update = updated.get(i).value().sub(start.get(i));
                    values.put("|update of " + updated.get(i).name() + "|", SyntheticValues.norm(update));
                }
                values.put("loss of step 3", losses(2).getLast());
                return values;
            }
        }

        private SequencedMap<String, Double> gradients() {
            SequencedMap<String, Double> norms = new LinkedHashMap<>();
            try (Tape tape = Tape.recording()) {
                BenchModel.Forward forward = model.forward(tape);
                try (Gradients gradients = tape.backward(model.loss(forward.output()))) {
                    forward.variables().forEach((name, variable) -> {
                        if (gradients.has(variable)) {
                            norms.put("|gradient of " + name + "|", SyntheticValues.norm(gradients.of(variable)));
                        }
                    });
                }
            }
            return norms;
        }

        @Override
        public void close() {
            optimizer.close();
            super.close();
        }
    }

    /** Step by tape, gradients and optimizer. */
    private static final class EagerStep extends TrainingStep {
        EagerStep(BenchModel model) {
            super(model);
        }

        @Override
        void run() {
            try (Tape tape = Tape.recording()) {
                BenchModel.Forward forward = model.forward(tape);
                Var value = model.loss(forward.output());
                try (Gradients gradients = tape.backward(value)) {
                    optimizer.step(groups, reached(forward, gradients));
                }
                keep(value.value().copy()); // on the device, so that a step does not wait for the GPU
            }
        }

        @Override
        double loss() {
            return last().item();
        }
    }

    /** Step replayed from a CUDA graph. */
    private static final class CapturedStep extends TrainingStep {
        private final CudaStream stream;
        private final GpuStepState state;
        private final CudaGraphOptimizer sgd;
        private final CapturedWork work;

        CapturedStep(BenchModel model) {
            super(model);
            Device device = model.labels().device();
            stream = CudaStream.open(device);
            state = new GpuStepState(device);
            sgd = new CudaGraphOptimizer(optimizer, state);
            work = new CapturedWork(device, this::step);
            sgd.prepare(OPTIONS.learningRate(), 0);
            state.begin(0);
        }

        private void step() {
            try (Scheduler scheduler = Acceleration.scheduler(model.labels().device());
                    Tape tape = Tape.recording(scheduler)) {
                BenchModel.Forward forward = model.forward(tape);
                Var loss = model.loss(forward.output());
                state.observe(forward.output().value(), model.labels(), loss.value());
                Map<Parameter, Var> variables = new LinkedHashMap<>();
                groups.forEach(group -> variables.putAll(group.variables(forward.variables())));
                sgd.registerHooks(tape, groups, variables);
                try (Gradients gradients = tape.backward(loss)) {
                    sgd.step(groups, reached(forward, gradients));
                }
            }
        }

        @Override
        void run() {
            work.run();
        }

        @Override
        double loss() {
            GpuStepState.Outcome outcome = state.read();
            double loss = outcome.last() / model.labels().size(0);
            if (outcome.wrong()) {
                throw new IllegalStateException("step " + outcome.steps() + " went wrong: its loss was " + loss);
            }
            return loss;
        }

        @Override
        public void close() {
            stream.close();
            sgd.close();
            work.close();
            state.close();
            super.close();
        }
    }
}
