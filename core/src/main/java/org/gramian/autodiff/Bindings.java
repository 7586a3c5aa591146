package org.gramian.autodiff;

import java.util.Map;

/** Variables by parameter name, as passed to a {@link Layer}. */
public final class Bindings {
    private final Map<String, Var> variables;
    private final String prefix;

    private Bindings(Map<String, Var> variables, String prefix) {
        this.variables = variables;
        this.prefix = prefix;
    }

    /** Creates bindings from variables by full name. */
    public static Bindings of(Map<String, Var> variables) {
        return new Bindings(Map.copyOf(variables), "");
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

    /** Returns the variables of one layer, whose names start with its name and a dot. */
    public Bindings under(String layer) {
        return new Bindings(variables, prefix + layer + ".");
    }
}
