package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.jspecify.annotations.Nullable;

/** Eager training step: tape, gradients, SGD with momentum. */
final class TapeTrainingStep implements TrainingStep {
    /** As in {@code worker.py}; updates of W are large compared with rounding. */
    static final SgdOptions OPTIONS =
            new SgdOptions(0.1, 0.9, 5e-4, new StiefelOptions(0.1, Stiefel.Metric.CANONICAL, Retraction.QR));

    private final BenchModel subject;
    private final Optimizer sgd = new Optimizer(OPTIONS);
    private @Nullable Tensor loss;

    TapeTrainingStep(BenchModel subject) {
        this.subject = subject;
    }

    @Override
    public void run() {
        try (Tape tape = Tape.recording()) {
            BenchModel.Forward forward = subject.forward(tape);
            Var value = subject.loss(forward.output());
            try (Gradients gradients = tape.backward(value)) {
                Map<Parameter, Tensor> reached = new LinkedHashMap<>();
                List<ParameterGroup> groups = subject.groups();
                groups.forEach(group -> reached.putAll(group.reached(forward.variables(), gradients)));
                sgd.step(groups, reached);
            }
            keep(Tensors.copy(value.value()));
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
