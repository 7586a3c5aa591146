package org.gramian.run.config;

import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/** A key of the configuration: a component of {@link TrainConfig} with the codec of its values. */
public final class ConfigKey {
    private static final List<ConfigKey> ALL = Arrays.stream(TrainConfig.class.getRecordComponents())
            .map(ConfigKey::new)
            .toList();

    private final TrainConfig.Key declared;
    private final ValueCodec codec;

    private ConfigKey(RecordComponent component) {
        declared = Objects.requireNonNull(component.getAnnotation(TrainConfig.Key.class), component.getName());
        Type type = component.getGenericType();
        codec = ValueCodec.of(type, declared);
    }

    /** Returns all keys, in the order of {@link TrainConfig}. */
    public static List<ConfigKey> all() {
        return ALL;
    }

    /** Returns the names of all keys. */
    public static List<String> names() {
        return ALL.stream().map(ConfigKey::name).toList();
    }

    /**
     * Returns the key of a name.
     *
     * @throws ConfigException if there is none; the message suggests the nearest name
     */
    public static ConfigKey of(String name) {
        return ALL.stream()
                .filter(key -> key.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException(unknown(name)));
    }

    /** Returns the command-line options of keys and of {@link CropOptions}, in the order of the help. */
    public static List<Option> options() {
        List<Option> options = new ArrayList<>();
        for (ConfigKey key : ALL) {
            key.option().ifPresent(options::add);
            if (key.name().equals("data.crops")) {
                options.addAll(CropOptions.OPTIONS);
            }
        }
        return options;
    }

    /** Returns the name with its section, e.g. {@code stage1.rate}. */
    public String name() {
        return declared.name();
    }

    /** Returns the description. */
    public String help() {
        return declared.help();
    }

    /** Returns the notation of the values, e.g. {@code NUMBER} or {@code f32|f16}. */
    public String values() {
        return codec.notation();
    }

    /** Returns the default in words. */
    public String defaultText() {
        return declared.rule().isEmpty() ? declared.defaultValue() : declared.rule();
    }

    /** Returns the text of the default, unless it is chosen automatically. */
    public Optional<String> fixedDefault() {
        return declared.rule().isEmpty() ? Optional.of(declared.defaultValue()) : Optional.empty();
    }

    /** Returns the option of the command line; empty if only {@code --set} and files reach the key. */
    public Optional<Option> option() {
        if (declared.option().isEmpty()) {
            return Optional.empty();
        }
        boolean negates = declared.defaultValue().equals("true");
        return Optional.of(Option.of(
                section(name()),
                declared.option(),
                negates ? "do not " + help() : help(),
                declared.spark(),
                Boolean.toString(!negates)));
    }

    /**
     * Returns whether a key influences the trained model. The path of the weights does not (their content is hashed),
     * and neither do keys of additional outputs.
     */
    public static boolean decides(String name) {
        return !name.equals("network.weights") && !isOutput(name);
    }

    /** Returns whether a key only adds output files to a run. */
    public static boolean isOutput(String name) {
        return name.equals("gallery") || name.equals("tensorboard");
    }

    /** @throws IllegalArgumentException if the text is invalid */
    Object parse(String text) {
        return codec.parse().apply(text.strip());
    }

    /** Returns the canonical text of a value: equal values have equal texts. */
    String print(Object value) {
        return codec.print().apply(value);
    }

    /** Returns all sections, in order. */
    static List<String> sections() {
        return names().stream()
                .filter(name -> name.contains("."))
                .map(ConfigKey::section)
                .distinct()
                .toList();
    }

    /** Returns the message about an unknown name, with the nearest key: first the same key of another section. */
    private static String unknown(String name) {
        List<String> siblings = names().stream()
                .filter(key -> key.contains(".") && section(key).equals(section(name)))
                .toList();
        Optional<String> nearest = withLastPart(names(), lastPart(name))
                .or(() -> nearestPart(name, siblings))
                .or(() -> NearestWord.of(name, names()))
                .or(() -> nearestPart(name, names()));
        return "unknown key " + QuotedText.text(name)
                + nearest.map(key -> " (did you mean '" + key + "'?)").orElse("") + "; "
                + (siblings.isEmpty()
                        ? "the sections are " + String.join(", ", sections()) + ", plus seed and fidelity"
                        : "the section '" + section(name) + "' has "
                                + String.join(
                                        ", ",
                                        siblings.stream()
                                                .map(ConfigKey::lastPart)
                                                .toList()));
    }

    private static Optional<String> nearestPart(String name, List<String> keys) {
        List<String> parts = keys.stream().map(ConfigKey::lastPart).toList();
        return NearestWord.of(lastPart(name), parts).flatMap(part -> withLastPart(keys, part));
    }

    private static Optional<String> withLastPart(List<String> keys, String part) {
        return keys.stream().filter(key -> lastPart(key).equals(part)).findFirst();
    }

    private static String section(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    private static String lastPart(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    @Override
    public String toString() {
        return name();
    }

    /**
     * An option of training on the command line.
     *
     * @param group heading in the help
     * @param names its name and its aliases
     * @param label name of the value in the help; empty if the option has no value
     * @param help description
     * @param spark whether Spark's {@code train} has it
     * @param constant value of the key that an option without value sets
     */
    public record Option(String group, List<String> names, String label, String help, boolean spark, String constant) {
        /** Headings of groups, in the order of the help. */
        public static final List<String> GROUPS = List.of("Data", "Model", "Training");

        static Option of(String section, String usage, String help, boolean spark, String constant) {
            List<String> words = List.of(usage.split(" "));
            String group = switch (section) {
                case "data" -> "Data";
                case "network" -> "Model";
                default -> "Training";
            };
            return new Option(
                    group,
                    words.stream().filter(word -> word.startsWith("--")).toList(),
                    words.getLast().startsWith("--") ? "" : words.getLast(),
                    help,
                    spark,
                    constant);
        }

        /** Returns the name that messages and origins of values use. */
        public String name() {
            return names.getFirst();
        }
    }
}
