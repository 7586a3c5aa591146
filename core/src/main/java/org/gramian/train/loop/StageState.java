package org.gramian.train.loop;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.AveragedWeights;
import org.gramian.train.Optimizer;

/** State of a stage besides its {@link StageProgress}: parameters, the optimizer, and copies of the best parameters. */
final class StageState implements AutoCloseable {
    private final SequencedMap<String, Parameter> parameters;
    private final Optimizer optimizer;
    private final SequencedMap<String, Tensor> best = new LinkedHashMap<>();

    /** @param optimizer closed with this */
    StageState(Trainable model, Optimizer optimizer) {
        this.parameters = model.parameters();
        this.optimizer = optimizer;
    }

    SequencedMap<String, Parameter> parameters() {
        return parameters;
    }

    Optimizer optimizer() {
        return optimizer;
    }

    SequencedMap<String, Tensor> best() {
        return best;
    }

    /** Swaps the averaged weights (EMA) into the parameters until closed; has no effect if the recipe has no EMA. */
    AveragedWeights averagedWeights() {
        return new AveragedWeights(optimizer, parameters.values());
    }

    void keepBest() {
        closeBest();
        try (Scope _ = Scope.open()) {
            parameters.forEach(
                    (name, parameter) -> setBest(name, parameter.value().copy()));
        }
    }

    /** Takes over a stored value. */
    void setBest(String name, Tensor value) {
        Scope.detach(value);
        best.put(name, value);
    }

    void restoreBest() {
        best.forEach((name, value) -> {
            Parameter parameter = parameters.get(name);
            if (parameter == null) {
                throw new IllegalStateException("missing parameter " + name + " to restore");
            }
            parameter.set(value.copy());
        });
    }

    private void closeBest() {
        best.values().forEach(Tensor::close);
        best.clear();
    }

    @Override
    public void close() {
        optimizer.close();
        closeBest();
    }
}
