package org.gramian.run.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Values of keys with their origins: those of a file, of a command line, or all of a run. */
public record Settings(Map<String, Setting> values) {
    private static final String SET = "--set";

    public static final Settings NONE = new Settings(Map.of());

    /**
     * One value.
     *
     * @param origin e.g. {@code default}, {@code run.yaml, line 3}, {@code --lr} or {@code chosen: …}
     * @param wanted whether the user set the value; other values were chosen for the set ones and may be wrong for different ones
     */
    public record Setting(String key, Object value, String origin, boolean wanted) {
        public String text() {
            return ConfigKey.of(key).print(value);
        }
    }

    public Settings {
        Map<String, Setting> ordered = new LinkedHashMap<>();
        for (ConfigKey<?> key : ConfigKey.all()) {
            if (values.containsKey(key.name())) {
                ordered.put(key.name(), Objects.requireNonNull(values.get(key.name())));
            }
        }
        if (ordered.size() < values.size()) {
            values.keySet().forEach(ConfigKey::of); // names the unknown key
        }
        values = Collections.unmodifiableMap(ordered);
    }

    /** Returns these values and one more, set by a program. */
    public Settings with(String name, Object value) {
        return with(name, value, "code");
    }

    /** Returns these values and one more, set by the user; it replaces a former value of its key. */
    public Settings with(String name, Object value, String origin) {
        return with(name, value, origin, true);
    }

    private Settings with(String name, Object value, String origin, boolean wanted) {
        ConfigKey<?> key = ConfigKey.of(name);
        boolean isText = value instanceof String || value instanceof Number; // an int may be the value of a double
        try {
            Object parsed = key.parse(isText ? value.toString() : key.print(value));
            Map<String, Setting> more = new LinkedHashMap<>(values);
            more.put(name, new Setting(name, parsed, origin, wanted));
            return new Settings(more);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(name + ": " + e.getMessage(), e);
        }
    }

    public static Settings typed(Map<String, String> typed, List<String> pairs, String example) {
        Settings settings = NONE;
        for (ConfigKey<?> key : ConfigKey.all()) {
            String option = key.option().map(ConfigKey.Option::name).orElse("");
            String text = typed.get(option);
            if (text != null) {
                settings = settings.typed(key.name(), text, option);
            }
        }
        for (String pair : pairs) {
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw new ConfigException(SET + ": expected KEY=VALUE, e.g. " + example + ", found '" + pair + "'");
            }
            settings = settings.typed(pair.substring(0, equals).strip(), pair.substring(equals + 1), SET);
        }
        return settings;
    }

    private Settings typed(String name, String text, String option) {
        try {
            Setting former = values.get(name);
            if (former != null) {
                throw new ConfigException(name + ": expected every key once, found it also in " + former.origin());
            }
            return with(name, text, option);
        } catch (ConfigException e) {
            String message = Objects.requireNonNull(e.getMessage());
            // an option of its own names the key well enough
            throw new ConfigException(
                    option + ": " + (option.equals(SET) ? message : message.replaceFirst("^\\Q" + name + "\\E: ", "")),
                    e);
        }
    }

    /** Returns these values, and those of a lower layer for other keys. */
    public Settings over(Settings lower) {
        Map<String, Setting> all = new LinkedHashMap<>(lower.values);
        all.putAll(values);
        return new Settings(all);
    }

    /** Returns the given values without the chosen ones, which may be wrong with further options. */
    public Settings wanted() {
        Map<String, Setting> some = new LinkedHashMap<>(values);
        some.values().removeIf(setting -> !setting.wanted());
        return new Settings(some);
    }

    /** Returns the same values, that of a key marked as chosen. */
    Settings unwanted(String name) {
        Map<String, Setting> same = new LinkedHashMap<>(values);
        same.computeIfPresent(name, (_, setting) -> new Setting(name, setting.value(), setting.origin(), false));
        return new Settings(same);
    }

    /** Returns these values, and a chosen one if the key is unset. */
    public Settings orElse(String name, Object value, String reason) {
        return has(name) ? this : with(name, value, "chosen: " + reason, false);
    }

    Settings orDefaults() {
        Settings all = this;
        for (ConfigKey<?> key : ConfigKey.all()) {
            if (!all.has(key.name()) && key.fixedDefault().isPresent()) {
                all = all.with(key.name(), key.fixedDefault().get(), "default", false);
            }
        }
        return all;
    }

    public boolean has(String name) {
        return values.containsKey(name);
    }

    @SuppressWarnings("unchecked") // parsed by the codec of the key
    public <T> Optional<T> find(ConfigKey<T> key) {
        return Optional.ofNullable(values.get(key.name())).map(setting -> (T) setting.value());
    }

    /** Returns the value of a key, or its fixed default if it is unset. */
    public <T> T get(ConfigKey<T> key) {
        return find(key).orElseGet(() -> key.parse(key.fixedDefault().orElseThrow(() -> missing(key.name()))));
    }

    public Setting setting(String name) {
        Setting setting = values.get(name);
        if (setting == null) {
            throw missing(name);
        }
        return setting;
    }

    private static ConfigException missing(String name) {
        return new ConfigException(name + ": expected a value, found none");
    }
}
