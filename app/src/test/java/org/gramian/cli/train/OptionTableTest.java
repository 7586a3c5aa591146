package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.cli.Main;
import org.gramian.cli.Run;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Key;
import org.gramian.run.config.KeyOption;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Every entry of the table of keys reaches YAML files, the help and docs/options.md; Spark's tests check its options. */
class OptionTableTest {
    @TempDir
    private Path folder = Path.of("");

    static List<Key<?>> keys() {
        return Keys.all();
    }

    static CommandSpec spec(String command) {
        return Objects.requireNonNull(Main.commandLine().getSubcommands().get(command))
                .getCommandSpec();
    }

    @Test
    void theTableHasEveryKeyThatIsDeclared() {
        List<Object> declared = Arrays.stream(Keys.class.getDeclaredFields())
                .filter(field -> field.getType() == Key.class && Modifier.isPublic(field.getModifiers()))
                .<Object>map(field -> {
                    try {
                        return field.get(null);
                    } catch (IllegalAccessException e) {
                        throw new AssertionError(e);
                    }
                })
                .toList();
        assertThat(Keys.all()).hasSizeGreaterThan(50).doesNotHaveDuplicates();
        assertThat(declared).containsExactlyInAnyOrderElementsOf(Keys.all());
        assertThat(Keys.names()).doesNotHaveDuplicates();
    }

    @Test
    void noTwoOptionsShareANameOrAPositionInTheHelp() {
        assertThat(Keys.options().stream().flatMap(option -> option.names().stream()))
                .doesNotHaveDuplicates();
        assertThat(Keys.options().stream().map(option -> option.group() + " " + option.order()))
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aKeyReachesYaml(Key<?> key) throws IOException {
        String text = key.fixedText().orElseGet(() -> TrainOptionsTest.sample(key));
        Settings settings = Settings.NONE.with(key.name(), text, Origin.CODE);
        int dot = key.name().indexOf('.');
        Path file = Files.writeString(
                folder.resolve("run.yaml"),
                dot < 0
                        ? "%s: %s\n".formatted(key.name(), text)
                        : "%s:\n  %s: %s\n"
                                .formatted(
                                        key.name().substring(0, dot), key.name().substring(dot + 1), text));
        Setting read = Objects.requireNonNull(ConfigFile.read(file).values().get(key.name()));
        Setting given = Objects.requireNonNull(settings.values().get(key.name()));
        assertThat(read.text()).isEqualTo(given.text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "compare"})
    void theHelpHasEveryKeyAndEveryOption(String command) {
        String help = Run.of(command, "--help-all").out();
        for (Key<?> key : Keys.all()) {
            assertThat(help)
                    .contains("  %s=%s (default: %s)"
                            .formatted(key.name(), key.form().expected(), key.defaultText()))
                    .contains("      " + key.meaning());
        }
        Map<String, OptionSpec> options = spec(command).optionsMap();
        for (KeyOption option : Keys.options()) {
            assertThat(options.keySet()).containsAll(option.names());
            assertThat(help).contains(option.help());
        }
    }

    @Test
    void thePageOfOptionsHasEveryKeyAndEveryOption() throws IOException {
        List<String> page = Files.readAllLines(Path.of("..", "docs", "options.md"));
        Stream<String> keys = Keys.all().stream().map(key -> "| `" + key.name() + "` | ");
        Stream<String> options = Keys.options().stream()
                .map(option -> "| `" + String.join(", ", option.names())
                        + (option.hasValue() ? " " + option.label() : "") + "` | " + option.help());
        assertThat(Stream.concat(keys, options))
                .allSatisfy(row -> assertThat(page)
                        .filteredOn(line -> line.startsWith(row))
                        .hasSize(1));
    }
}
