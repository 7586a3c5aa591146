package org.gramian.basis;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A name with arguments, {@code name:value,key=value}: the grammar of poolings, crops, augmentation, protocols, schedules and solvers.
 *
 * <p>Values without a key belong to the arguments in the order in which these are read.
 */
public final class NamedArguments {
    private final String name;
    private final String form;
    private final Map<String, String> defaults;
    private final List<String> values = new ArrayList<>();
    private final Map<String, String> named = new LinkedHashMap<>();
    private final Set<String> known = new LinkedHashSet<>();
    private int taken;

    /** An invalid argument; the message shows the syntax. */
    public static final class InvalidException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        InvalidException(String message) {
            super(message);
        }
    }

    /** Splits the text behind the colon. */
    public NamedArguments(String name, String form, String text, int positional, Map<String, String> defaults) {
        this.name = name;
        this.form = form;
        this.defaults = defaults;
        for (String part : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            int equals = part.indexOf('=');
            if (equals > 0) {
                String key = part.substring(0, equals).strip();
                if (named.put(key, part.substring(equals + 1).strip()) != null) {
                    throw problem("the argument '" + key + "' is given twice");
                }
            } else if (values.size() < positional && named.isEmpty() && !part.isBlank()) {
                values.add(part.strip());
            } else {
                throw problem("'" + part + "' is not name=value");
            }
        }
    }

    /**
     * Parses a name of a list with its arguments.
     *
     * @throws IllegalArgumentException if the name is unknown; the message suggests the nearest
     */
    public static NamedArguments parse(String what, String text, List<String> forms) {
        String[] parts = text.strip().split(":", 2);
        String name = parts[0].strip().toLowerCase(Locale.ROOT);
        List<String> names =
                forms.stream().map(form -> form.split("[\\[:]", 2)[0]).toList();
        if (!names.contains(name)) {
            throw new IllegalArgumentException("unknown " + what + " " + QuotedText.text(text.strip())
                    + NearestWord.suggestion(name, names) + "; expected one of " + String.join(", ", names));
        }
        String form = forms.get(names.indexOf(name));
        if (parts.length > 1 && (form.equals(name) || parts[1].isBlank())) {
            throw new InvalidException(name + ": expected " + form + ", found " + QuotedText.text(text.strip()));
        }
        return new NamedArguments(name, form, parts.length > 1 ? parts[1] : "", Integer.MAX_VALUE, Map.of());
    }

    public String name() {
        return name;
    }

    public String text(String argument, String byDefault) {
        String found = find(argument);
        return found == null ? byDefault : found;
    }

    /** Returns a required integer of at least 1. */
    public int count(String argument) {
        return toInteger(argument, required(argument), 1);
    }

    /** Returns a required integer of at least 1, or the value of a keyword. */
    public int countOr(String argument, String word, int meant) {
        String found = required(argument);
        return found.equals(word) ? meant : toInteger(argument, found, 1);
    }

    /** Returns an integer of at least 1. */
    public int count(String argument, int byDefault) {
        String found = find(argument);
        return found == null ? byDefault : toInteger(argument, found, 1);
    }

    /** Returns an integer of at least 0. */
    public int integer(String argument, int byDefault) {
        String found = find(argument);
        return found == null ? byDefault : toInteger(argument, found, 0);
    }

    /** Returns all values without a key as integers of at least 0. */
    public List<Integer> integers(String argument) {
        taken = values.size();
        return values.stream().map(value -> toInteger(argument, value, 0)).toList();
    }

    /** Returns a required number. */
    public double number(String argument) {
        return toNumber(argument, required(argument));
    }

    public double number(String argument, double byDefault) {
        String found = find(argument);
        return found == null ? byDefault : toNumber(argument, found);
    }

    /** Returns a number; empty if it is omitted or a keyword. */
    public OptionalDouble numberOr(String argument, String word) {
        String found = find(argument);
        return found == null || found.equals(word)
                ? OptionalDouble.empty()
                : OptionalDouble.of(toNumber(argument, found));
    }

    /** Returns {@code true} or {@code false}. */
    public boolean flag(String argument, boolean byDefault) {
        String found = text(argument, Boolean.toString(byDefault));
        if (!found.equals("true") && !found.equals("false")) {
            throw wrong(argument, "true or false", found);
        }
        return found.equals("true");
    }

    /** Returns one of several keywords; its key cannot be omitted. */
    public <T> T choice(String argument, Function<String, T> reading) {
        known.add(argument);
        String found = named.getOrDefault(argument, defaults.get(argument));
        if (found == null) {
            throw problem("the argument '" + argument + "' is missing");
        }
        return reading.apply(found);
    }

    private @Nullable String find(String argument) {
        if (!named.containsKey(argument) && known.size() == taken && taken < values.size()) {
            named.put(argument, values.get(taken++));
        }
        known.add(argument);
        return named.getOrDefault(argument, defaults.get(argument));
    }

    private String required(String argument) {
        String found = find(argument);
        if (found == null) {
            throw problem("the argument '" + argument + "' is missing");
        }
        return found;
    }

    private int toInteger(String argument, String text, int least) {
        if (!text.matches("\\d{1,6}") || Integer.parseInt(text) < least) {
            throw wrong(argument, "a whole number between " + least + " and 999999", text);
        }
        return Integer.parseInt(text);
    }

    private double toNumber(String argument, String text) {
        if (!isNumber(text)) {
            throw wrong(argument, "a number", text);
        }
        double value = Double.parseDouble(text) + 0.0; // -0 becomes 0, so that the text reads back equal
        if (Double.isInfinite(value)) {
            throw wrong(argument, "a number of double precision", text);
        }
        return value;
    }

    public static boolean isNumber(String text) {
        return text.matches("[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d{1,3})?");
    }

    /** Returns the shortest decimal that reads as the same number, e.g. {@code 0.0005} or {@code 1e-5}. */
    public static String decimal(double value) {
        String shortest = Double.toString(value);
        return shortest.contains("E") && (value < 1e-4 || value >= 1e7)
                ? shortest.replaceFirst("(\\.0)?E", "e")
                : new BigDecimal(shortest).stripTrailingZeros().toPlainString();
    }

    public InvalidException wrong(String argument, String wanted, String found) {
        return problem("the argument '" + argument + "' must be " + wanted + ", found " + QuotedText.text(found));
    }

    /** Fails if an argument was not read. */
    public void requireAllUsed() {
        if (taken < values.size()) {
            throw problem("the argument '" + values.get(taken) + "' is not supported");
        }
        for (String key : named.keySet()) {
            if (!known.contains(key)) {
                throw problem("unknown argument '" + key + "'" + NearestWord.suggestion(key, List.copyOf(known)));
            }
        }
    }

    private InvalidException problem(String what) {
        return new InvalidException(name + ": " + what + "; the syntax is " + form);
    }
}
