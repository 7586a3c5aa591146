package org.gramian.train.loop;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.AveragedWeights;
import org.gramian.train.Optimizer;

/** State of a stage besides its {@link StageProgress}: parameters, the optimizer, and copies of the best parameters. */
record StageState(SequencedMap<String, Parameter> parameters, Optimizer optimizer, SequencedMap<String, Tensor> best)
        implements AutoCloseable {
    /** @param optimizer closed with this */
    StageState(Trainable model, Optimizer optimizer) {
        this(model.parameters(), optimizer, new LinkedHashMap<>());
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
