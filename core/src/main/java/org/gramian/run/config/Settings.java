package org.gramian.run.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Values of configuration keys with their origins: those of a file, of a command line, or all of a run. Every text is parsed
 * when it is added, so that all values are valid.
 *
 * @param values by name of the key, in the order of {@link Keys#all}
 */
public record Settings(Map<String, Setting> values) {
    private static final String SET = "--set";

    /** No values. */
    public static final Settings NONE = new Settings(Map.of());

    public Settings {
        Map<String, Setting> ordered = new LinkedHashMap<>();
        for (Key<?> key : Keys.all()) {
            if (values.containsKey(key.name())) {
                ordered.put(key.name(), Objects.requireNonNull(values.get(key.name())));
            }
        }
        if (ordered.size() < values.size()) {
            values.keySet().forEach(Keys::of); // names the unknown key
        }
        values = Collections.unmodifiableMap(ordered);
    }

    /**
     * Returns these values and one more, which replaces a former value of its key.
     *
     * @throws ConfigException if the key is unknown or the text is invalid
     */
    public Settings with(String name, String text, Origin origin) {
        return with(new Setting(name, Keys.of(name).normalize(text), origin));
    }

    private Settings with(Setting setting) {
        Map<String, Setting> more = new LinkedHashMap<>(values);
        more.put(setting.key(), setting);
        return new Settings(more);
    }

    /**
     * Returns the settings of a command line.
     *
     * @param typed text of each given option, by its name; options that set no key are ignored
     * @param pairs values of {@code --set}
     * @param example of a pair, for messages
     * @throws ConfigException naming the option, if a text is invalid or a key is set twice
     */
    public static Settings typed(Map<String, String> typed, List<String> pairs, String example) {
        Settings settings = NONE;
        for (Key<?> key : Keys.all()) {
            String option = key.option().map(KeyOption::name).orElse("");
            String text = typed.get(option);
            if (text != null) {
                settings = settings.typed(key.name(), text, option);
            }
        }
        for (String pair : pairs) {
            settings = settings.typedPair(pair, example);
        }
        return settings;
    }

    /**
     * Returns these values and one more, from an option of the command line.
     *
     * @throws ConfigException naming the option, if the key is unknown or has a value already, or if the text is invalid
     */
    public Settings typed(String name, String text, String option) {
        try {
            Key<?> key = Keys.of(name);
            Setting former = values.get(name);
            if (former != null) {
                throw new ConfigException(name + ": expected every key once, found it also in " + former.origin());
            }
            // An option of its own names the key well enough.
            String value = option.equals(SET) ? key.normalize(text) : key.form().normalize(text);
            return with(new Setting(name, value, Origin.flag(option)));
        } catch (IllegalArgumentException e) {
            throw new ConfigException(option + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns these values and that of {@code --set KEY=VALUE}.
     *
     * @param example of a pair, for the message about a text that is none
     */
    public Settings typedPair(String pair, String example) {
        int equals = pair.indexOf('=');
        if (equals < 1) {
            throw new ConfigException(SET + ": expected KEY=VALUE, e.g. " + example + ", found '" + pair + "'");
        }
        return typed(pair.substring(0, equals).strip(), pair.substring(equals + 1), SET);
    }

    /** Returns these values and one more, set by a program. */
    public <T> Settings with(Key<T> key, T value) {
        return with(key.name(), key.form().write(value), Origin.CODE);
    }

    /** Returns these values, and those of a lower layer for other keys. */
    public Settings over(Settings lower) {
        Map<String, Setting> all = new LinkedHashMap<>(lower.values);
        all.putAll(values);
        return new Settings(all);
    }

    /** Returns the given values without the chosen ones, which may not suit further options. */
    public Settings wanted() {
        Map<String, Setting> some = new LinkedHashMap<>(values);
        some.values().removeIf(setting -> !setting.origin().wanted());
        return new Settings(some);
    }

    /** Returns the same values, that of a key marked as chosen. */
    Settings unwanted(String name) {
        Map<String, Setting> same = new LinkedHashMap<>(values);
        same.computeIfPresent(
                name,
                (_, setting) ->
                        new Setting(name, setting.text(), setting.origin().unwanted()));
        return new Settings(same);
    }

    /** Returns the values of all other keys. */
    Settings without(Key<?> key) {
        Map<String, Setting> less = new LinkedHashMap<>(values);
        less.remove(key.name());
        return new Settings(less);
    }

    /** Returns these values, and a chosen one if the key is unset. */
    <T> Settings orElse(Key<T> key, T value, String reason) {
        return has(key) ? this : with(key.name(), key.form().write(value), Origin.chosen(reason));
    }

    /** Returns these values, and the fixed default of a key if it is unset. */
    Settings orDefault(Key<?> key) {
        Optional<String> fixed = key.fixedText();
        return fixed.isPresent() && !has(key) ? with(key.name(), fixed.get(), Origin.DEFAULT) : this;
    }

    /** Fills unset keys with their fixed defaults. */
    Settings orDefaults() {
        Settings all = this;
        for (Key<?> key : Keys.all()) {
            all = all.orDefault(key);
        }
        return all;
    }

    /** Returns whether a key is set. */
    public boolean has(Key<?> key) {
        return values.containsKey(key.name());
    }

    /** Returns whether a key was set by the user, not chosen. */
    boolean isWanted(Key<?> key) {
        Setting setting = values.get(key.name());
        return setting != null && setting.origin().wanted();
    }

    /** Returns the value of a key; empty if it is unset. */
    public <T> Optional<T> find(Key<T> key) {
        return Optional.ofNullable(values.get(key.name())).map(setting -> key.read(setting.text()));
    }

    /**
     * Returns the value of a key.
     *
     * @throws ConfigException if it is unset
     */
    public <T> T get(Key<T> key) {
        return find(key).orElseThrow(() -> new ConfigException(key.name() + ": expected a value, found none"));
    }
}
