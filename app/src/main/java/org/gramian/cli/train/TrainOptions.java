package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.TorchOptions;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Options of training: one per key of {@link TrainConfig} that declares it, {@code --set} for all other keys, and {@code --config} for a file.
 *
 * <p>Values stay text until {@link #requested} parses them, so that an error names the option.
 */
public final class TrainOptions {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "YAML file of keys, e.g. the config.yaml of a run; options override it, automatic values are"
                    + " chosen again")
    private @Nullable Path config;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "any key, e.g. --set stage2.warmup=1; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Mixin
    private final InputOptions network = new InputOptions();

    private final Map<ConfigKey.Option, OptionSpec> generated = new LinkedHashMap<>();

    @Spec(Spec.Target.MIXEE)
    void addTo(CommandSpec command) {
        int order = 0;
        for (String group : ConfigKey.Option.GROUPS) {
            ArgGroupSpec.Builder section =
                    ArgGroupSpec.builder().validate(false).order(order++).heading("%n" + group + ":%n");
            for (ConfigKey.Option option : ConfigKey.options()) {
                if (option.group().equals(group)) {
                    OptionSpec made = made(option);
                    generated.put(option, made);
                    section.addArg(made);
                }
            }
            command.addArgGroup(section.build());
        }
    }

    private static OptionSpec made(ConfigKey.Option option) {
        OptionSpec.Builder made =
                OptionSpec.builder(option.names().toArray(String[]::new)).description(option.help());
        return option.label().isEmpty()
                ? made.type(boolean.class).build()
                : made.type(String.class).paramLabel(option.label()).build();
    }

    WeightStore store() {
        return network.store();
    }

    /**
     * Returns the given settings; options override the file. Beside options, only explicit values of the file count: a learning
     * rate chosen automatically for one pooling may be wrong for another.
     */
    public Settings requested(TorchOptions torch, Consumer<String> remarks) throws IOException {
        Map<String, String> texts = texts();
        String backbone = texts.get("--backbone");
        if (backbone != null) {
            texts.put("--backbone", network.resolve(backbone, remarks));
        }
        Settings all = Settings.typed(texts, pairs, "stage2.warmup=1");
        if (torch.accelerate().isPresent()) {
            all = all.with("accelerate", torch.accelerate().get(), "--accelerate");
        }
        if (config != null) {
            Settings file = ConfigFile.read(config);
            boolean alone = texts.isEmpty() && pairs.isEmpty();
            all = all.over(alone ? file : file.wanted());
        }
        return DefaultResolver.withImageSize(all, texts);
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

    public static String keys() {
        StringBuilder text = new StringBuilder("\nKeys of --config and --set:\n");
        for (ConfigKey<?> key : ConfigKey.all()) {
            text.append("  %s=%s (default: %s)\n      %s\n"
                    .formatted(key.name(), key.values(), key.defaultText(), key.help()));
        }
        return text.toString();
    }
}
