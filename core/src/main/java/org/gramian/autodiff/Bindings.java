package org.gramian.autodiff;

import java.util.Map;

/** Variables by parameter name, as a {@link Layer} is given them. */
public final class Bindings {
    private final Map<String, Var> variables;
    private final String prefix;

    private Bindings(Map<String, Var> variables, String prefix) {
        this.variables = variables;
        this.prefix = prefix;
    }

    public static Bindings of(Map<String, Var> variables) {
        return new Bindings(Map.copyOf(variables), "");
    }

    /** The variable of a name. */
    public Var get(String name) {
        Var variable = variables.get(prefix + name);
        if (variable == null) {
            throw new IllegalArgumentException("missing parameter " + prefix + name + "; found "
                    + variables.keySet().stream().sorted().toList());
        }
        return variable;
    }

    /** The variables of one layer: those whose names begin with its own name and a dot. */
    public Bindings under(String layer) {
        return new Bindings(variables, prefix + layer + ".");
    }
}
