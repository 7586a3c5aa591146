package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.cli.common.InputOptions;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.CropOptions;
import org.gramian.run.config.Key;
import org.gramian.run.config.KeyOption;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Options of training: those of the table of {@link Keys}, {@code --set} for all other keys, and {@code --config} for a file.
 *
 * <p>Values stay text until {@link #requested} parses them, so that an error names the option.
 */
public final class TrainOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "YAML file of keys, e.g. the config.yaml of a run; options override it, automatic values are chosen again")
    private @Nullable Path config;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "set any key of the list below, e.g. --set stage2.warmup=1; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Mixin
    private final InputOptions network = new InputOptions();

    private final Map<KeyOption, OptionSpec> generated = new LinkedHashMap<>();

    /** Adds the options of the table to a command. */
    @Spec(Spec.Target.MIXEE)
    void addTo(CommandSpec command) {
        int order = 0;
        for (KeyOption.Group group : KeyOption.Group.values()) {
            ArgGroupSpec.Builder section =
                    ArgGroupSpec.builder().validate(false).order(order++).heading("%n" + group.heading() + ":%n");
            for (KeyOption option : Keys.options()) {
                if (option.group() == group) {
                    OptionSpec made = made(option);
                    generated.put(option, made);
                    section.addArg(made);
                }
            }
            command.addArgGroup(section.build());
        }
    }

    private static OptionSpec made(KeyOption option) {
        OptionSpec.Builder made =
                OptionSpec.builder(option.names().toArray(String[]::new)).description(option.help());
        return option.hasValue()
                ? made.type(String.class).paramLabel(option.label()).build()
                : made.type(boolean.class).build();
    }

    /** Returns the folder of installed weights. */
    WeightStore store() {
        return network.store();
    }

    /** Returns the names of the given options. */
    List<String> typed() {
        List<String> names = new ArrayList<>();
        if (config != null) {
            names.add("--config");
        }
        if (!pairs.isEmpty()) {
            names.add("--set");
        }
        names.addAll(texts().keySet());
        return names;
    }

    /**
     * Returns the given settings; options override the file. Beside options, only explicit values of the file count: a learning
     * rate chosen automatically for one pooling may not suit another.
     *
     * @param remarks receives notes on an ONNX file as backbone, which is installed first
     * @throws ConfigException naming file, line and key, or the option
     * @throws IOException if an ONNX file as backbone is not usable
     */
    public Settings requested(Consumer<String> remarks) throws IOException {
        Map<String, String> texts = texts();
        String backbone = Keys.BACKBONE.option().orElseThrow().name();
        if (texts.containsKey(backbone)) {
            texts.put(backbone, network.resolve(Objects.requireNonNull(texts.get(backbone)), remarks));
        }
        Settings all = Settings.typed(texts, pairs, "stage2.warmup=1");
        if (config != null) {
            Settings file = ConfigFile.read(config);
            boolean alone = texts.isEmpty() && pairs.isEmpty();
            all = alone ? file : all.over(file.wanted());
        }
        return CropOptions.of(texts).applyTo(all);
    }

    /** Returns the text of each given option of the table, by its name. */
    private Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        generated.forEach((option, made) -> {
            if (made.getValue() instanceof String text) {
                texts.put(option.name(), text);
            } else if (Boolean.TRUE.equals(made.getValue())) {
                texts.put(option.name(), option.constant());
            }
        });
        return texts;
    }

    /** Lists all keys for the end of the help. */
    public static String keys() {
        StringBuilder text = new StringBuilder("\nKeys of --config and --set:\n");
        for (Key<?> key : Keys.all()) {
            text.append("  %s=%s (default: %s)\n      %s\n"
                    .formatted(key.name(), key.form().expected(), key.defaultText(), key.meaning()));
        }
        return text.toString();
    }
}
