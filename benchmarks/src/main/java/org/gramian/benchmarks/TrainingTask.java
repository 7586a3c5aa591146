package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Training steps of a {@link BenchModel}.
 *
 * <p>Sides must agree in the norm of every gradient, by a plain tape, the losses of the first and the third step, and the
 * norm of the first update of each parameter. Later updates depend on rounding: with few positions, where the square root is
 * steep, correct programs differ by some percent.
 */
final class TrainingTask implements Task {
    private final BenchModel subject;
    private final TrainingStep step;

    TrainingTask(BenchModel subject) {
        this.subject = subject;
        this.step = TrainingStep.of(subject);
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
                    .toList();
            List<Tensor> start = moved.stream()
                    .map(parameter -> Tensors.copy(parameter.value()))
                    .toList();
            values.put("loss", trajectory(1).getFirst());
            for (int i = 0; i < start.size(); i++) {
                Tensor way = Elementwise.sub(moved.get(i).value(), start.get(i));
                values.put("|update of " + moved.get(i).name() + "|", Norm.of(way));
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
                        norms.put("|gradient of " + name + "|", Norm.of(gradients.of(variable)));
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
}
