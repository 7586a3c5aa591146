package org.gramian.autodiff;

import java.util.Map;
import java.util.Optional;

/**
 * Variables by parameter name, as passed to a {@link Layer}.
 *
 * @since 0.1
 */
public final class Bindings {
    private final Map<String, Var> variables;
    private final String prefix;
    private final boolean batchStatistics;

    private Bindings(Map<String, Var> variables, String prefix, boolean batchStatistics) {
        this.variables = variables;
        this.prefix = prefix;
        this.batchStatistics = batchStatistics;
    }

    /** Creates bindings from variables by full name. */
    public static Bindings of(Map<String, Var> variables) {
        return new Bindings(Map.copyOf(variables), "", false);
    }

    /**
     * Creates bindings for training from scratch: batch norms normalize by the statistics of the batch and update their
     * running statistics in place, which {@link #of} keeps fixed.
     */
    public static Bindings ofTraining(Map<String, Var> variables) {
        return new Bindings(Map.copyOf(variables), "", true);
    }

    /** Returns whether batch norms use the statistics of the batch. */
    public boolean batchStatistics() {
        return batchStatistics;
    }

    /** Returns the variable of a name. */
    public Var get(String name) {
        Var variable = variables.get(prefix + name);
        if (variable == null) {
            throw new IllegalArgumentException("missing parameter " + prefix + name + "; found "
                    + variables.keySet().stream().sorted().toList());
        }
        return variable;
    }

    /** Returns the variable of a name, or empty if it is not bound. */
    public Optional<Var> find(String name) {
        return Optional.ofNullable(variables.get(prefix + name));
    }

    /** Returns the variables of one layer, whose names start with its name and a dot. */
    public Bindings under(String layer) {
        return new Bindings(variables, prefix + layer + ".", batchStatistics);
    }
}
