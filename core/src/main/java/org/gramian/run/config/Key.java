package org.gramian.run.config;

import java.util.Optional;

/**
 * A configuration key.
 *
 * @param <T> type of its values
 * @param name section and name, e.g. {@code stage1.rate}
 * @param meaning description in one line, for help
 * @param form text form of its values
 * @param defaultValue default
 * @param option option of the command line; empty if only {@code --set} and files reach the key
 */
public record Key<T>(String name, String meaning, Form<T> form, Default<T> defaultValue, Optional<KeyOption> option) {
    /**
     * Default of a key.
     *
     * @param <T> type of the value
     */
    public sealed interface Default<T> {
        /**
         * A fixed value.
         *
         * @param <T> type of the value
         * @param value the default
         */
        record Fixed<T>(T value) implements Default<T> {}

        /**
         * A value that {@link Choices} finds for the images and the machine.
         *
         * @param <T> type of the value
         * @param rule description of the choice, for help
         */
        record Chosen<T>(String rule) implements Default<T> {}
    }

    /**
     * Parses a value.
     *
     * @throws ConfigException naming the key, if the text is invalid
     */
    T read(String text) {
        try {
            return form.read(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(name + ": " + e.getMessage(), e);
        }
    }

    /** Returns the canonical text of a value: equal values have equal texts. */
    String normalize(String text) {
        return form.write(read(text));
    }

    /** Returns the text of a fixed default. */
    public Optional<String> fixedText() {
        return defaultValue instanceof Default.Fixed<T>(T value) ? Optional.of(form.write(value)) : Optional.empty();
    }

    /** Returns the default in words. */
    public String defaultText() {
        return switch (defaultValue) {
            case Default.Fixed<T>(T value) -> form.write(value);
            case Default.Chosen<T>(String rule) -> rule;
        };
    }

    @Override
    public String toString() {
        return name;
    }
}
