package org.gramian.run.config;

import java.util.Optional;

/**
 * One thing that can be configured.
 *
 * @param <T> type of its values
 * @param name section and name, as {@code stage1.rate}
 * @param meaning in one line, for help
 * @param form how values are written
 * @param usual what holds where nobody says otherwise
 */
public record Key<T>(String name, String meaning, Form<T> form, Usual<T> usual) {
    /**
     * What holds where nobody says otherwise.
     *
     * @param <T> type of the value
     */
    public sealed interface Usual<T> {
        /**
         * Always the same value.
         *
         * @param <T> type of the value
         * @param value it
         */
        record Fixed<T>(T value) implements Usual<T> {}

        /**
         * A value that {@link Choices} finds.
         *
         * @param <T> type of the value
         * @param rule how, for help
         */
        record Chosen<T>(String rule) implements Usual<T> {}
    }

    static <T> Key<T> fixed(String name, String meaning, Form<T> form, T value) {
        return new Key<>(name, meaning, form, new Usual.Fixed<>(value));
    }

    static <T> Key<T> chosen(String name, String meaning, Form<T> form, String rule) {
        return new Key<>(name, meaning, form, new Usual.Chosen<>(rule));
    }

    /**
     * A value of a text.
     *
     * @throws ConfigException naming the key, if it is none
     */
    T read(String text) {
        try {
            return form.read(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(name + ": " + e.getMessage(), e);
        }
    }

    /** The same text as this key writes it itself: equal values have equal texts. */
    String normalize(String text) {
        return form.write(read(text));
    }

    /** The fixed value's text, if there is one. */
    public Optional<String> fixedText() {
        return usual instanceof Usual.Fixed<T>(T value) ? Optional.of(form.write(value)) : Optional.empty();
    }

    /** What holds where nobody says otherwise, in words. */
    public String usualText() {
        return switch (usual) {
            case Usual.Fixed<T>(T value) -> form.write(value);
            case Usual.Chosen<T>(String rule) -> rule;
        };
    }

    @Override
    public String toString() {
        return name;
    }
}
