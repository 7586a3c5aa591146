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
import org.gramian.tensor.Tensors;

/** The parameters of a layer or a network by name, in a fixed order; owns their memory. */
public final class ParameterSet implements AutoCloseable {
    private final SequencedMap<String, Parameter> parameters = new LinkedHashMap<>();

    /** Makes the first values of the specified parameters, in order, from one random generator. */
    public static ParameterSet initialize(
            List<ParameterSpec> specs, RandomGenerator random, DType type, Device device) {
        ParameterSet set = new ParameterSet();
        try {
            for (ParameterSpec spec : specs) {
                set.add(spec, random, type, device);
            }
        } catch (RuntimeException failed) {
            set.close();
            throw failed;
        }
        return set;
    }

    private void add(ParameterSpec spec, RandomGenerator random, DType type, Device device) {
        if (parameters.containsKey(spec.name())) {
            throw new IllegalArgumentException("two parameters are named " + spec.name());
        }
        try (Scope _ = Scope.open()) {
            Tensor made = Tensors.to(spec.initial().make(random, spec.shape(), type), device);
            parameters.put(spec.name(), new Parameter(spec, made));
        }
    }

    public Collection<Parameter> all() {
        return parameters.sequencedValues();
    }

    public Parameter get(String name) {
        Parameter parameter = parameters.get(name);
        if (parameter == null) {
            throw new IllegalArgumentException("unknown parameter '" + name + "'; available: " + parameters.keySet());
        }
        return parameter;
    }

    /**
     * The parameters whose names begin with a layer's name and a dot, under the rest of their names. They are the same
     * parameters and stay this set's: do not close it.
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

    /** The parameters of some names, under these. They are the same parameters and stay this set's: do not close it. */
    public ParameterSet only(Predicate<String> wanted) {
        ParameterSet part = new ParameterSet();
        parameters.forEach((name, parameter) -> {
            if (wanted.test(name)) {
                part.parameters.put(name, parameter);
            }
        });
        return part;
    }

    /** Variables of a tape by name: those that training moves ask for a gradient. */
    public SequencedMap<String, Var> variables(Tape tape) {
        return variables(tape, _ -> false);
    }

    /** The same with some of them frozen: these ask for none. */
    public SequencedMap<String, Var> variables(Tape tape, Predicate<String> frozen) {
        SequencedMap<String, Var> variables = new LinkedHashMap<>();
        parameters.forEach((name, parameter) -> variables.put(
                name,
                parameter.spec().role() == ParameterSpec.Role.FITTED || frozen.test(name)
                        ? tape.constant(parameter.value())
                        : tape.variable(parameter.value())));
        return variables;
    }

    /** Replaces values by name; names and shapes must be those of parameters here, types and devices are converted. */
    public void assign(Map<String, Tensor> values) {
        values.forEach((name, value) -> {
            Parameter parameter = get(name);
            Tensor former = parameter.value();
            try (Scope _ = Scope.open()) {
                Tensor converted = Tensors.to(Tensors.to(value, former.type()), former.device());
                // A conversion is a copy already; two of a layer of half a gigabyte would be one too many.
                parameter.set(converted == value ? Tensors.copy(value) : converted);
            }
        });
    }

    @Override
    public void close() {
        parameters.values().forEach(Parameter::close);
    }
}
