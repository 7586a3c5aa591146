package org.gramian.train.loop;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/** Copies of parameters on their device, as those of the best epoch. */
final class Snapshot implements AutoCloseable {
    private final SequencedMap<String, Tensor> values = new LinkedHashMap<>();

    /** Copies the values of parameters. */
    static Snapshot of(Map<String, Parameter> parameters) {
        Snapshot snapshot = new Snapshot();
        snapshot.take(parameters);
        return snapshot;
    }

    /** Replaces the copies. */
    void take(Map<String, Parameter> parameters) {
        close();
        try (Scope _ = Scope.open()) {
            parameters.forEach((name, parameter) -> put(name, parameter.value().copy()));
        }
    }

    /** Takes over a stored value. */
    void put(String name, Tensor value) {
        Scope.detach(value);
        values.put(name, value);
    }

    SequencedMap<String, Tensor> values() {
        return values;
    }

    /** Restores the copied values. */
    void restore(Map<String, Parameter> parameters) {
        values.forEach((name, value) -> {
            Parameter parameter = parameters.get(name);
            if (parameter == null) {
                throw new IllegalStateException("missing parameter " + name + " to restore");
            }
            parameter.set(value.copy());
        });
    }

    @Override
    public void close() {
        values.values().forEach(Tensor::close);
        values.clear();
    }
}
