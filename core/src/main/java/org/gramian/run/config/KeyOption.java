package org.gramian.run.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An option of training on the command line, as plain data. The options of {@code train}, of {@code compare} and of Spark's
 * {@code train} are made from it.
 *
 * @param group heading in the help
 * @param order position in the group
 * @param names its name and its aliases
 * @param label name of the value in the help; empty if the option has no value
 * @param help description in the help
 * @param sparkHelp description in the help of Spark's {@code train}; empty if the option does not apply there
 * @param constant value of the key that an option without value sets
 */
public record KeyOption(
        Group group,
        int order,
        List<String> names,
        String label,
        String help,
        Optional<String> sparkHelp,
        String constant) {
    /** Groups of the help, in their order. */
    public enum Group {
        DATA("Data"),
        MODEL("Model"),
        TRAINING("Training");

        private final String heading;

        Group(String heading) {
            this.heading = heading;
        }

        /** Returns the heading. */
        public String heading() {
            return heading;
        }

        /** Returns an option with a value; its usage is {@code --name LABEL}. */
        KeyOption option(int order, String usage, String help) {
            String[] parts = usage.split(" ", 2);
            return new KeyOption(this, order, List.of(parts[0]), parts[1], help, Optional.empty(), "");
        }

        /** Returns an option without value, which sets its key to a constant. */
        KeyOption flag(int order, String name, String constant, String help) {
            return new KeyOption(this, order, List.of(name), "", help, Optional.empty(), constant);
        }
    }

    public KeyOption {
        names = List.copyOf(names);
    }

    /** Returns the name that messages and origins of values use. */
    public String name() {
        return names.getFirst();
    }

    /** Returns whether the option has a value. */
    public boolean hasValue() {
        return !label.isEmpty();
    }

    KeyOption alias(String... aliases) {
        List<String> all = new ArrayList<>(names);
        all.addAll(List.of(aliases));
        return new KeyOption(group, order, all, label, help, sparkHelp, constant);
    }

    /** Returns the same option, which Spark has as well. */
    KeyOption onSpark() {
        return onSpark(help);
    }

    /** Returns the same option, which Spark has with another description. */
    KeyOption onSpark(String description) {
        return new KeyOption(group, order, names, label, help, Optional.of(description), constant);
    }
}
