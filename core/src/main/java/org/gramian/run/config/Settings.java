package org.gramian.run.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Some values of the configuration, each with its origin: what a file says, what the command line says, or all values of
 * a run. Every text has been read once, so a value that is here can be used.
 *
 * @param values by name of the key, in the order of {@link Keys#all}
 */
public record Settings(Map<String, Setting> values) {
    /** Nothing said. */
    public static final Settings NONE = new Settings(Map.of());

    public Settings {
        Map<String, Setting> ordered = new LinkedHashMap<>();
        for (Key<?> key : Keys.all()) {
            if (values.containsKey(key.name())) {
                ordered.put(key.name(), Objects.requireNonNull(values.get(key.name())));
            }
        }
        if (ordered.size() < values.size()) {
            values.keySet().forEach(Keys::of); // says which one is no key
        }
        values = Collections.unmodifiableMap(ordered);
    }

    /**
     * These values and one more, which takes the place of a value of that key.
     *
     * @throws ConfigException if there is no such key, or the text is none of its values
     */
    public Settings with(String name, String text, Origin origin) {
        Map<String, Setting> more = new LinkedHashMap<>(values);
        more.put(name, new Setting(name, Keys.of(name).normalize(text), origin));
        return new Settings(more);
    }

    /**
     * These values and one more that an option of the command line asks for.
     *
     * @throws ConfigException naming the option, if there is no such key, if it has a value already, or if the text is none
     */
    public Settings typed(String name, String text, String option) {
        try {
            Setting former = values.get(name);
            if (former != null) {
                throw new ConfigException(name + ": expected every key once, found it also in " + former.origin());
            }
            return with(name, text, Origin.flag(option));
        } catch (ConfigException e) {
            throw new ConfigException(option + ": " + e.getMessage(), e);
        }
    }

    /**
     * The same for {@code --set KEY=VALUE}.
     *
     * @param example of a pair, for the message where this is none
     */
    public Settings typedPair(String pair, String example) {
        int equals = pair.indexOf('=');
        if (equals < 1) {
            throw new ConfigException("--set: expected KEY=VALUE, e.g. " + example + ", found '" + pair + "'");
        }
        return typed(pair.substring(0, equals).strip(), pair.substring(equals + 1), "--set");
    }

    /** These values and one more, for programs. */
    public <T> Settings with(Key<T> key, T value) {
        return with(key.name(), key.form().write(value), Origin.CODE);
    }

    /** These values, and for keys that they do not have those of a lower layer. */
    public Settings over(Settings lower) {
        Map<String, Setting> all = new LinkedHashMap<>(lower.values);
        all.putAll(values);
        return new Settings(all);
    }

    /**
     * Only the values that somebody asked for: what is left where more is asked for, as the others were chosen to suit
     * something else.
     */
    public Settings wanted() {
        Map<String, Setting> some = new LinkedHashMap<>(values);
        some.values().removeIf(setting -> !setting.origin().wanted());
        return new Settings(some);
    }

    /** The same values, that of a key as one that nobody asked for. */
    Settings unwanted(String name) {
        Map<String, Setting> same = new LinkedHashMap<>(values);
        same.computeIfPresent(
                name,
                (_, setting) ->
                        new Setting(name, setting.text(), setting.origin().unwanted()));
        return new Settings(same);
    }

    /** The same values without that of a key. */
    Settings without(Key<?> key) {
        Map<String, Setting> less = new LinkedHashMap<>(values);
        less.remove(key.name());
        return new Settings(less);
    }

    /** These values, and a chosen one if the key has none yet. */
    <T> Settings orElse(Key<T> key, T value, String reason) {
        return has(key) ? this : with(key.name(), key.form().write(value), Origin.chosen(reason));
    }

    /** Returns these values, and the fixed default of a key that has no value yet. */
    Settings orDefault(Key<?> key) {
        Optional<String> fixed = key.fixedText();
        return fixed.isPresent() && !has(key) ? with(key.name(), fixed.get(), Origin.DEFAULT) : this;
    }

    /** These values, and the default for every key that has a fixed one and no value yet. */
    Settings orDefaults() {
        Settings all = this;
        for (Key<?> key : Keys.all()) {
            all = all.orDefault(key);
        }
        return all;
    }

    /** Whether there is a value. */
    public boolean has(Key<?> key) {
        return values.containsKey(key.name());
    }

    /** Whether there is a value that was given, and not chosen to suit others. */
    boolean isWanted(Key<?> key) {
        Setting setting = values.get(key.name());
        return setting != null && setting.origin().wanted();
    }

    /** The value of a key, if there is one. */
    public <T> Optional<T> find(Key<T> key) {
        return Optional.ofNullable(values.get(key.name())).map(setting -> key.read(setting.text()));
    }

    /**
     * The value of a key.
     *
     * @throws ConfigException if there is none
     */
    public <T> T get(Key<T> key) {
        return find(key).orElseThrow(() -> new ConfigException(key.name() + ": expected a value, found none"));
    }
}
