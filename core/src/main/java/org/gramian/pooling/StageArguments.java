package org.gramian.pooling;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.gramian.basis.NearestWord;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of one stage: {@code name=value} pairs, the first of which may be given without its name, as in {@code
 * conv:512}. Omitted arguments may have a default of the {@link Fidelity}.
 */
final class StageArguments {
    private final PoolingStage.Syntax syntax;
    private final Map<String, String> unwritten;
    private final Map<String, String> named = new LinkedHashMap<>();
    private final Set<String> known = new LinkedHashSet<>();
    private @Nullable String unnamed;

    StageArguments(PoolingStage.Syntax syntax, String text, Map<String, String> unwritten) {
        this.syntax = syntax;
        this.unwritten = unwritten;
        for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            int equals = part.indexOf('=');
            if (equals > 0) {
                if (named.put(
                                part.substring(0, equals).strip(),
                                part.substring(equals + 1).strip())
                        != null) {
                    throw problem("the argument '" + part.substring(0, equals) + "' is given twice");
                }
            } else if (unnamed == null && named.isEmpty() && !part.isBlank()) {
                unnamed = part.strip();
            } else {
                throw problem("'" + part + "' is not name=value");
            }
        }
    }

    /** Returns the name of the stage. */
    String stage() {
        return syntax.name();
    }

    String text(String name, String byDefault) {
        String found = find(name);
        return found == null ? byDefault : found;
    }

    /** Returns a required integer of at least 1. */
    int count(String name) {
        return toCount(name, required(name));
    }

    /** Returns a required integer of at least 1, or the value of a keyword. */
    int countOr(String name, String word, int meant) {
        String found = required(name);
        return found.equals(word) ? meant : toCount(name, found);
    }

    int count(String name, int byDefault) {
        String found = find(name);
        return found == null ? byDefault : toCount(name, found);
    }

    /** Returns a required number. */
    double number(String name) {
        return toNumber(name, required(name));
    }

    double number(String name, double byDefault) {
        String found = find(name);
        return found == null ? byDefault : toNumber(name, found);
    }

    /** Returns {@code true} or {@code false}. */
    boolean flag(String name, boolean byDefault) {
        String found = text(name, Boolean.toString(byDefault));
        if (!found.equals("true") && !found.equals("false")) {
            throw wrong(name, "true or false", found);
        }
        return found.equals("true");
    }

    /** Returns one of several keywords; its name cannot be omitted. */
    <T> T choice(String name, Function<String, T> reading) {
        known.add(name);
        String found = named.getOrDefault(name, unwritten.get(name));
        if (found == null) {
            throw problem("the argument '" + name + "' is missing");
        }
        return reading.apply(found);
    }

    private @Nullable String find(String name) {
        String found = named.get(name);
        if (found == null && known.isEmpty()) {
            found = unnamed; // the first argument may be given without its name
            if (found != null) {
                named.put(name, found);
                unnamed = null;
            }
        }
        known.add(name);
        return found == null ? unwritten.get(name) : found;
    }

    private String required(String name) {
        String found = find(name);
        if (found == null) {
            throw problem("the argument '" + name + "' is missing");
        }
        return found;
    }

    private int toCount(String name, String text) {
        if (!text.matches("\\d{1,6}") || Integer.parseInt(text) < 1) {
            throw wrong(name, "a whole number between 1 and 999999", text);
        }
        return Integer.parseInt(text);
    }

    private double toNumber(String name, String text) {
        if (!isNumber(text)) {
            throw wrong(name, "a number", text);
        }
        double value = Double.parseDouble(text) + 0.0; // -0 becomes 0, so that the text reads back equal
        if (Double.isInfinite(value)) {
            throw wrong(name, "a number of double precision", text);
        }
        return value;
    }

    static boolean isNumber(String text) {
        return text.matches("[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d{1,3})?");
    }

    PoolingSyntaxException wrong(String name, String wanted, String found) {
        return problem("the argument '" + name + "' must be " + wanted + ", found '" + found + "'");
    }

    /** Fails if an argument was not read. */
    void requireAllUsed() {
        List<String> over = new ArrayList<>(named.keySet());
        over.removeAll(known);
        if (unnamed != null) {
            throw problem("the argument '" + unnamed + "' is not supported");
        }
        if (!over.isEmpty()) {
            throw problem("unknown argument '" + over.getFirst() + "'"
                    + NearestWord.suggestion(over.getFirst(), List.copyOf(known)));
        }
    }

    private PoolingSyntaxException problem(String what) {
        return new PoolingSyntaxException(syntax.name() + ": " + what + "; the syntax is " + syntax.form());
    }
}
