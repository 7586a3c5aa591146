package org.gramian.run.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/** A key of the configuration, declared in {@link TrainConfig}. */
public record ConfigKey<T>(
        String name, String usage, ValueCodec<T> codec, String help, String defaultText, boolean isFixed) {
    public static List<ConfigKey<?>> all() {
        return TrainConfig.keys();
    }

    public static List<String> names() {
        return all().stream().<String>map(ConfigKey::name).toList();
    }

    public static ConfigKey<?> of(String name) {
        for (ConfigKey<?> key : all()) {
            if (key.name.equals(name)) {
                return key;
            }
        }
        throw new ConfigException(unknown(name));
    }

    /** Returns the command-line options of keys and {@link Option#IMAGE_SIZE}, in the order of the help. */
    public static List<Option> options() {
        List<Option> options = new ArrayList<>();
        for (ConfigKey<?> key : all()) {
            key.option().ifPresent(options::add);
            if (key.equals(TrainConfig.CROPS)) {
                options.add(Option.IMAGE_SIZE);
            }
        }
        return options;
    }

    public String values() {
        return codec.notation();
    }

    public Optional<String> fixedDefault() {
        return isFixed ? Optional.of(defaultText) : Optional.empty();
    }

    /** Returns the option of the command line; empty if only {@code --set} and files reach the key. */
    public Optional<Option> option() {
        if (usage.isEmpty()) {
            return Optional.empty();
        }
        boolean negates = defaultText.equals("true");
        return Optional.of(
                Option.of(section(name), usage, negates ? "do not " + help : help, Boolean.toString(!negates)));
    }

    /**
     * Returns whether a key influences the trained model. The path of the weights does not (their content is hashed),
     * and neither do keys of additional outputs.
     */
    public static boolean decides(String name) {
        return !name.equals("network.weights") && !isOutput(name);
    }

    public static boolean isOutput(String name) {
        return name.equals("gallery");
    }

    T parse(String text) {
        return codec.parse().apply(text.strip());
    }

    /** Returns the canonical text of a value: equal values have equal texts. */
    @SuppressWarnings("unchecked") // values are parsed by the codec of their key
    String print(Object value) {
        return codec.print().apply((T) value);
    }

    static boolean isSection(String name) {
        return names().stream().anyMatch(key -> key.startsWith(name + "."));
    }

    /** Returns the message about an unknown name, with the nearest key: first the same key of another section. */
    private static String unknown(String name) {
        List<String> siblings = names().stream()
                .filter(key -> key.startsWith(section(name) + "."))
                .toList();
        String last = lastPart(name);
        String known = siblings.isEmpty()
                ? "the sections are "
                        + names().stream()
                                .filter(key -> key.contains("."))
                                .map(ConfigKey::section)
                                .distinct()
                                .collect(Collectors.joining(", "))
                        + ", plus seed and fidelity"
                : "the section '" + section(name) + "' has "
                        + siblings.stream().map(ConfigKey::lastPart).collect(Collectors.joining(", "));
        String nearest = names().stream()
                .filter(key -> lastPart(key).equals(last))
                .findFirst()
                .map(key -> " (did you mean '" + key + "'?)")
                .orElseGet(() -> NearestWord.suggestion(name, siblings.isEmpty() ? names() : siblings));
        return "unknown key " + QuotedText.text(name) + nearest + "; " + known;
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
        return name;
    }

    /** An option of training on the command line. */
    public record Option(String group, List<String> names, String label, String help, String constant) {
        /** Headings of groups, in the order of the help. */
        public static final List<String> GROUPS = List.of("Data", "Model", "Training");

        /** Size of the crops of {@code data.crops}, see {@link DefaultResolver#withImageSize}. */
        public static final Option IMAGE_SIZE = of(
                "data", "--image-size --img-size --imgsz N", "image size: side of all crops in pixels, e.g. 320", "");

        private static Option of(String section, String usage, String help, String constant) {
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
                    constant);
        }

        public String name() {
            return names.getFirst();
        }
    }
}
