package org.gramian.train;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;

/** Parameters with a common learning rate and weight decay, as a backbone at a tenth of the head's learning rate. */
public record ParameterGroup(ParameterSet parameters, double rate, double decay) {
    /** Returns a group with the learning rate and decay of the optimizer. */
    public static ParameterGroup of(ParameterSet parameters) {
        return new ParameterGroup(parameters, 1, 1);
    }

    /** Returns the gradients that reached the parameters; {@code gradients} still owns them. */
    public Map<Parameter, Tensor> reached(Map<String, Var> variables, Gradients gradients) {
        Map<Parameter, Tensor> reached = new LinkedHashMap<>();
        variables(variables).forEach((parameter, variable) -> {
            if (gradients.has(variable)) {
                reached.put(parameter, gradients.of(variable));
            }
        });
        return reached;
    }

    public SequencedMap<Parameter, Var> variables(Map<String, Var> byName) {
        SequencedMap<Parameter, Var> variables = new LinkedHashMap<>();
        for (Parameter parameter : parameters.all()) {
            Var variable = byName.get(parameter.name());
            if (variable != null) {
                variables.put(parameter, variable);
            }
        }
        return variables;
    }
}
