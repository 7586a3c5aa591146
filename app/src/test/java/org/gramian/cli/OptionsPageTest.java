package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.run.config.ConfigKey;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** docs/options.md is the table of options of the program. */
class OptionsPageTest {
    private static final Path PAGE = Path.of("..", "docs", "options.md");
    private static final Path EXPECTED = Path.of("target", "options.md");

    private static final String INTRODUCTION = """
        # Options

        Generated from the option table of the program. Set a key with `--set KEY=VALUE`, in a YAML file with
        `--config FILE`, or from Java with `Trainer.set`. Frequent keys have an option of their own. An option
        beats `--set`, which beats a file. [Training](training.md#configuration) has examples, [Tuning](tuning.md) explains the
        choices. *Stage 1* trains the head on the frozen backbone, *stage 2* fine-tunes all layers.

        ## Options of train
        """;

    private static final Map<String, String> SECTIONS = Map.of(
            "data", "Data",
            "network", "Model",
            "stage1", "Stage 1: frozen backbone",
            "stage2", "Stage 2: fine-tuning",
            "optimizer", "Optimizer and loss",
            "stiefel", "Orthonormal matrices (Stiefel manifold)",
            "", "General");

    @Test
    void thePageIsGeneratedFromTheOptionTable() throws IOException {
        String expected = page();
        Files.createDirectories(EXPECTED.getParent());
        Files.writeString(EXPECTED, expected);
        assertThat(Files.readString(PAGE))
                .as("docs/options.md is out of date: replace it by app/target/options.md, which this test writes")
                .isEqualTo(expected);
    }

    private static String page() {
        StringBuilder page = new StringBuilder(INTRODUCTION);
        CommandSpec train = Objects.requireNonNull(
                        Main.commandLine().getSubcommands().get("train"))
                .getCommandSpec();
        List<OptionSpec> grouped = train.argGroups().stream()
                .flatMap(group -> group.options().stream())
                .toList();
        page.append(table(train.options().stream().filter(option -> !grouped.contains(option))));
        for (ArgGroupSpec group : train.argGroups()) {
            String heading = group.heading().replace("%n", "").replace(":", "");
            page.append("\n### ").append(heading).append('\n').append(table(group.options().stream()));
        }
        page.append("\n## Keys\n");
        keysBySection()
                .forEach((section, keys) -> page.append("\n### ")
                        .append(SECTIONS.getOrDefault(section, section))
                        .append("\n\n| key | values | default | meaning |\n|---|---|---|---|\n")
                        .append(keys.stream().map(OptionsPageTest::row).collect(Collectors.joining())));
        return page.toString();
    }

    private static Map<String, List<ConfigKey<?>>> keysBySection() {
        return ConfigKey.all().stream()
                .collect(Collectors.groupingBy(
                        key -> key.name().contains(".") ? key.name().replaceFirst("\\..*", "") : "",
                        LinkedHashMap::new,
                        Collectors.toList()));
    }

    private static String table(Stream<OptionSpec> options) {
        return options.filter(option -> !option.hidden() && !option.usageHelp() && !option.versionHelp())
                .map(option ->
                        "| `%s` | %s |\n".formatted(written(option), text(String.join(" ", option.description()))))
                .collect(Collectors.joining("", "\n| option | meaning |\n|---|---|\n", ""));
    }

    private static String written(OptionSpec option) {
        String names = String.join(", ", option.names());
        return code(option.arity().max() == 0 ? names : names + " " + option.paramLabel());
    }

    private static String row(ConfigKey<?> key) {
        return "| `%s` | `%s` | %s | %s |\n"
                .formatted(key.name(), code(key.values()), text(key.defaultText()), text(key.help()));
    }

    /** Text of a cell; a bare {@code <} would begin an HTML element. */
    private static String text(String text) {
        return code(text).replace("<", "\\<");
    }

    private static String code(String text) {
        return text.replace("|", "\\|").replaceAll("\\s+", " ").strip();
    }
}
