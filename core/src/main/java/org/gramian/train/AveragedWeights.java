package org.gramian.train;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Gives parameters the moving average that an {@link Optimizer} keeps of them, until closed.
 *
 * <p>The average of matrices with orthonormal columns has none: it is replaced by the Q of its QR decomposition with
 * {@code diag(R) > 0}. Parameters without an average stay as they are.
 */
public final class AveragedWeights implements AutoCloseable {
    private final Map<Parameter, Tensor> trained = new LinkedHashMap<>();

    public AveragedWeights(Optimizer optimizer, Collection<Parameter> parameters) {
        for (Parameter parameter : parameters) {
            Tensor average = optimizer.state(parameter, Optimizer.AVERAGE);
            if (average != null) {
                try (Scope scope = Scope.open()) {
                    Tensor value = parameter.value().copy();
                    scope.release(value);
                    trained.put(parameter, value);
                    Optimizer.assign(
                            parameter,
                            parameter.spec().role() == Role.STIEFEL
                                    ? Decompositions.orthonormalColumns(average, true)
                                    : average.copy());
                }
            }
        }
    }

    /** Leaves the averages in place for good: closing restores nothing. */
    public void keep() {
        trained.values().forEach(Tensor::close);
        trained.clear();
    }

    @Override
    public void close() {
        trained.forEach((parameter, value) -> {
            Optimizer.assign(parameter, value);
            if (parameter.value() != value) { // copied in place
                value.close();
            }
        });
        trained.clear();
    }
}
