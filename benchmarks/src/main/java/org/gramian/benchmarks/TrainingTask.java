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
import org.gramian.train.ParameterGroup;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.jspecify.annotations.Nullable;

/**
 * Training steps of a {@link BenchModel}, replayed from a CUDA graph if possible.
 *
 * <p>Sides must agree in the norm of every gradient, by a plain tape, the losses of the first and the third step, and the
 * norm of the first update of each parameter. Later updates depend on rounding: with few positions, where the square root is
 * steep, correct programs differ by some percent.
 */
final class TrainingTask implements Task {
    /** As in {@code worker.py}; updates of W are large compared with rounding. */
    private static final SgdOptions OPTIONS =
            new SgdOptions(0.1, 0.9, 5e-4, new StiefelOptions(0.1, Stiefel.Metric.CANONICAL, Retraction.QR));

    private final BenchModel subject;
    private final TrainingStep step;

    TrainingTask(BenchModel subject) {
        this.subject = subject;
        boolean captured = Rule.OPTIMIZER.isEnabled()
                && !subject.groups().isEmpty()
                && CudaGraphOptimizer.isSupported(subject.groups(), OPTIONS);
        this.step = captured ? new CudaGraphStep(subject) : new EagerStep(subject);
    }

    @Override
    public void run() {
        step.run();
    }

    @Override
    public SequencedMap<String, Double> check() {
        try (Scope _ = Scope.open()) {
            SequencedMap<String, Double> values = gradients();
            List<Parameter> moved = subject.groups().stream()
                    .flatMap(group -> group.parameters().all().stream())
                    .filter(parameter -> parameter.spec().role() != Role.FITTED)
                    .toList();
            List<Tensor> start =
                    moved.stream().map(parameter -> parameter.value().copy()).toList();
            values.put("loss", trajectory(1).getFirst());
            for (int i = 0; i < start.size(); i++) {
                Tensor update = moved.get(i).value().sub(start.get(i));
                values.put("|update of " + moved.get(i).name() + "|", SyntheticValues.norm(update));
            }
            values.put("loss of step 3", trajectory(2).getLast());
            return values;
        }
    }

    private SequencedMap<String, Double> gradients() {
        SequencedMap<String, Double> norms = new LinkedHashMap<>();
        try (Tape tape = Tape.recording()) {
            BenchModel.Forward forward = subject.forward(tape);
            try (Gradients gradients = tape.backward(subject.loss(forward.output()))) {
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
    public List<Double> trajectory(int steps) {
        List<Double> losses = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            step.run();
            losses.add(step.loss());
        }
        return losses;
    }

    @Override
    public void close() {
        step.close();
        subject.close();
    }

    /** Training step on a fixed batch: forward, loss, backward and update. */
    private interface TrainingStep extends AutoCloseable {
        /** Takes one step; does not wait for the GPU. */
        void run();

        /** Returns the loss of the last step, before its update; waits for the GPU. */
        double loss();

        @Override
        void close();
    }

    private static Map<Parameter, Tensor> reached(
            List<ParameterGroup> groups, BenchModel.Forward forward, Gradients gradients) {
        Map<Parameter, Tensor> reached = new LinkedHashMap<>();
        groups.forEach(group -> reached.putAll(group.reached(forward.variables(), gradients)));
        return reached;
    }

    /** Eager training step: tape, gradients, SGD with momentum. */
    private static final class EagerStep implements TrainingStep {
        private final BenchModel subject;
        private final Optimizer sgd = new Optimizer(OPTIONS);
        private @Nullable Tensor loss;

        EagerStep(BenchModel subject) {
            this.subject = subject;
        }

        @Override
        public void run() {
            try (Tape tape = Tape.recording()) {
                BenchModel.Forward forward = subject.forward(tape);
                Var value = subject.loss(forward.output());
                try (Gradients gradients = tape.backward(value)) {
                    List<ParameterGroup> groups = subject.groups();
                    sgd.step(groups, reached(groups, forward, gradients));
                }
                keep(value.value().copy());
            }
        }

        /** Keeps the loss on the device, so that a step does not wait for the GPU. */
        private void keep(Tensor next) {
            Scope.detach(next);
            Tensor former = loss;
            if (former != null) {
                former.close();
            }
            loss = next;
        }

        @Override
        public double loss() {
            if (loss == null) {
                throw new IllegalStateException("no step was taken yet");
            }
            return loss.item();
        }

        @Override
        public void close() {
            if (loss != null) {
                loss.close();
            }
            sgd.close();
        }
    }

    /** Training step replayed from a CUDA graph, with {@link CudaGraphOptimizer}. */
    private static final class CudaGraphStep implements TrainingStep {
        private final BenchModel subject;
        private final List<ParameterGroup> groups;
        private final CudaStream stream;
        private final GpuStepState state;
        private final Optimizer velocities = new Optimizer(OPTIONS);
        private final CudaGraphOptimizer sgd;
        private final CapturedWork work;

        CudaGraphStep(BenchModel subject) {
            this.subject = subject;
            this.groups = subject.groups();
            Device device = subject.labels().device();
            this.stream = CudaStream.open(device);
            this.state = new GpuStepState(device);
            this.sgd = new CudaGraphOptimizer(velocities, state);
            this.work = new CapturedWork(device, this::step);
            sgd.prepare(OPTIONS.learningRate(), 0);
            state.begin(0);
        }

        private void step() {
            try (Scheduler scheduler = Acceleration.scheduler(subject.labels().device());
                    Tape tape = Tape.recording(scheduler)) {
                BenchModel.Forward forward = subject.forward(tape);
                Var loss = subject.loss(forward.output());
                state.observe(forward.output().value(), subject.labels(), loss.value());
                Map<Parameter, Var> variables = new LinkedHashMap<>();
                groups.forEach(group -> variables.putAll(group.variables(forward.variables())));
                sgd.registerHooks(tape, groups, variables);
                try (Gradients gradients = tape.backward(loss)) {
                    sgd.step(groups, reached(groups, forward, gradients));
                }
            }
        }

        @Override
        public void run() {
            work.run();
        }

        @Override
        public double loss() {
            GpuStepState.Outcome outcome = state.read();
            double loss = outcome.last() / subject.labels().size(0);
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
            velocities.close();
        }
    }
}
