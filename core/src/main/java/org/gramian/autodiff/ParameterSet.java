package org.gramian.autodiff;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Parameters of a layer or network by name, in a fixed order; owns their memory.
 *
 * @since 0.1
 */
public final class ParameterSet implements AutoCloseable {
    private final SequencedMap<String, Parameter> parameters = new LinkedHashMap<>();

    /** Creates an empty set. */
    public ParameterSet() {}

    /** Initializes parameters in order from one random generator. */
    public static ParameterSet initialize(
            List<ParameterSpec> specs, RandomGenerator random, DType type, Device device) {
        ParameterSet set = new ParameterSet();
        try {
            for (ParameterSpec spec : specs) {
                if (set.parameters.containsKey(spec.name())) {
                    throw new IllegalArgumentException("two parameters are named " + spec.name());
                }
                try (Scope _ = Scope.open()) {
                    Tensor made =
                            spec.initial().make(random, spec.shape(), type).to(device);
                    set.parameters.put(spec.name(), new Parameter(spec, made));
                }
            }
        } catch (RuntimeException failed) {
            set.close();
            throw failed;
        }
        return set;
    }

    /** Returns all parameters in order. */
    public Collection<Parameter> all() {
        return parameters.sequencedValues();
    }

    /** Returns the parameter of a name. */
    public Parameter get(String name) {
        Parameter parameter = parameters.get(name);
        if (parameter == null) {
            throw new IllegalArgumentException("unknown parameter '" + name + "'; available: " + parameters.keySet());
        }
        return parameter;
    }

    /**
     * Returns the parameters whose names start with a layer's name and a dot, under the rest of their names. They stay
     * owned by this set: do not close the result.
     */
    public ParameterSet under(String layer) {
        ParameterSet part = new ParameterSet();
        String prefix = layer + ".";
        parameters.forEach((name, parameter) -> {
            if (name.startsWith(prefix)) {
                part.parameters.put(name.substring(prefix.length()), parameter);
            }
        });
        return part;
    }

    /** Returns the parameters whose names match. They stay owned by this set: do not close the result. */
    public ParameterSet only(Predicate<String> wanted) {
        ParameterSet part = new ParameterSet();
        parameters.forEach((name, parameter) -> {
            if (wanted.test(name)) {
                part.parameters.put(name, parameter);
            }
        });
        return part;
    }

    /** Binds the parameters to a tape; trainable ones get gradients. */
    public SequencedMap<String, Var> variables(Tape tape) {
        return variables(tape, _ -> false);
    }

    /** Binds the parameters to a tape; trainable ones that are not frozen get gradients. */
    public SequencedMap<String, Var> variables(Tape tape, Predicate<String> frozen) {
        SequencedMap<String, Var> variables = new LinkedHashMap<>();
        parameters.forEach((name, parameter) -> variables.put(
                name,
                parameter.spec().role() == ParameterSpec.Role.FITTED || frozen.test(name)
                        ? tape.constant(parameter.value())
                        : tape.variable(parameter.value())));
        return variables;
    }

    /** Sets values by name, converting type and device; names and shapes must match. */
    public void assign(Map<String, Tensor> values) {
        values.forEach((name, value) -> {
            Parameter parameter = get(name);
            Tensor former = parameter.value();
            try (Scope _ = Scope.open()) {
                Tensor converted = value.to(former.type()).to(former.device());
                // A conversion is a copy already; avoids a second copy of up to half a gigabyte.
                parameter.set(converted == value ? value.copy() : converted);
            }
        });
    }

    @Override
    public void close() {
        parameters.values().forEach(Parameter::close);
    }
}
