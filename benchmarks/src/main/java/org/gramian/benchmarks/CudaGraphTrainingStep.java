package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.CapturedWork;
import org.gramian.tensor.CudaStream;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.train.CudaGraphOptimizer;
import org.gramian.train.GpuStepState;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;

/** Training step replayed from a CUDA graph, with {@link CudaGraphOptimizer}. */
final class CudaGraphTrainingStep implements TrainingStep {
    private final BenchModel subject;
    private final List<ParameterGroup> groups;
    private final CudaStream stream;
    private final GpuStepState cells;
    private final Optimizer velocities = new Optimizer(TapeTrainingStep.OPTIONS);
    private final CudaGraphOptimizer sgd;
    private final CapturedWork work;

    CudaGraphTrainingStep(BenchModel subject) {
        this.subject = subject;
        this.groups = subject.groups();
        Device device = subject.labels().device();
        this.stream = CudaStream.open(device);
        this.cells = new GpuStepState(device);
        this.sgd = new CudaGraphOptimizer(velocities, cells);
        this.work = new CapturedWork(device, this::step);
        sgd.prepare(TapeTrainingStep.OPTIONS.learningRate(), 0);
        cells.begin(0);
    }

    static boolean suits(BenchModel subject) {
        return !subject.groups().isEmpty() && CudaGraphOptimizer.suits(subject.groups(), TapeTrainingStep.OPTIONS);
    }

    private void step() {
        try (Tape tape = Tape.recording()) {
            BenchModel.Forward forward = subject.forward(tape);
            Var loss = subject.loss(forward.output());
            cells.observe(forward.output().value(), subject.labels(), loss.value());
            try (Gradients gradients = tape.backward(loss)) {
                Map<Parameter, Tensor> reached = new LinkedHashMap<>();
                groups.forEach(group -> reached.putAll(group.reached(forward.variables(), gradients)));
                sgd.step(groups, reached);
            }
        }
    }

    @Override
    public void run() {
        work.run();
    }

    @Override
    public double loss() {
        GpuStepState.Outcome outcome = cells.read();
        if (outcome.wrong()) {
            throw new IllegalStateException("step " + outcome.steps() + " went wrong: its loss was "
                    + outcome.last() / subject.labels().size(0));
        }
        return outcome.last() / subject.labels().size(0);
    }

    @Override
    public void close() {
        stream.close();
        work.close();
        cells.close();
        velocities.close();
    }
}
