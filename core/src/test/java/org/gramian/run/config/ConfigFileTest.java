package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class ConfigFileTest {
    @TempDir
    Path folder;

    @RandomTest(times = 200)
    void configurationRoundTrips(Seed seed) {
        Settings settings = new RandomConfigs(seed.random()).next();
        RunConfig read = RunConfig.of(parse(ConfigFile.text(settings)));
        assertThat(texts(read.settings())).isEqualTo(texts(settings));
        assertThat(read.network()).isEqualTo(RunConfig.of(settings).network());
        assertThat(read.recipe()).isEqualTo(RunConfig.of(settings).recipe());
    }

    @RandomTest
    void everyKeyCanBeWrittenInASectionOrWithADot(Seed seed) {
        for (ConfigKey<?> key : ConfigKey.all()) {
            String text = new RandomConfigs(seed.random()).text(key);
            Settings wanted = Settings.NONE.with(key.name(), text);
            assertThat(texts(parse(ConfigFile.text(wanted)))).isEqualTo(texts(wanted));
            Settings dotted = parse(key.name() + ": '" + text.replace("'", "''") + "'");
            assertThat(texts(dotted)).isEqualTo(texts(wanted));
        }
    }

    /** Reading and writing a file any number of times loses nothing. */
    @RandomTest(times = 50)
    void chosenKeysAreKnownAfterReading(Seed seed) {
        SplittableRandom random = seed.random();
        Settings whole = new RandomConfigs(random).next();
        for (String key : ConfigKey.names()) {
            whole = random.nextBoolean() ? whole.unwanted(key) : whole;
        }
        Settings read = parse(ConfigFile.text(whole));
        assertThat(texts(read)).isEqualTo(texts(whole));
        assertThat(texts(read.wanted())).isEqualTo(texts(whole.wanted()));
        assertThat(texts(parse(ConfigFile.text(read)).wanted())).isEqualTo(texts(whole.wanted()));
    }

    static Settings parse(String text) {
        return ConfigFile.Reader.read(text, Path.of("run.yaml"));
    }

    private static String texts(Settings settings) {
        return settings.values().values().stream()
                .map(setting -> setting.key() + "=" + setting.text())
                .toList()
                .toString();
    }

    @Test
    void originIsFileNameAndLine() throws IOException {
        Settings settings = read("# mine\nseed: 3\nstage1:\n  rate: 0.5 # high\n");
        assertThat(settings.values().get("seed")).isEqualTo(new Settings.Setting("seed", 3L, "run.yaml, line 2", true));
        assertThat(settings.values().get("stage1.rate"))
                .isEqualTo(new Settings.Setting("stage1.rate", 0.5, "run.yaml, line 4", true));
    }

    @Test
    void originsFollowTheValues() throws IOException {
        Path file = folder.resolve("out.yaml");
        ConfigFile.write(file, Settings.NONE.with("seed", "7", "--seed").orElse("stage1.rate", "1e-5", "a\nb"));
        assertThat(Files.readAllLines(file))
                .filteredOn(line -> !line.startsWith("#"))
                .zipSatisfy(
                        List.of(
                                "stage1:",
                                "  rate: 1e-5 +# .*a\uFFFDb",
                                "seed: 7 +# --seed",
                                "chosen:",
                                "  \\[stage1.rate\\]"),
                        (line, pattern) -> assertThat(line).matches(pattern));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "# nothing\n", "---\n", "{}", "---\n...\n"})
    void emptyFileHasNoSettings(String text) throws IOException {
        assertThat(read(text)).isEqualTo(Settings.NONE);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void errorsNameLineAndKey(String text, Facts message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> read(text))
                .withMessageStartingWith(folder.resolve("run.yaml").toString())
                .has(message)
                .satisfies(e -> assertThat(e.getMessage())
                        .doesNotContain("\n")
                        .hasSizeLessThan(folder.toString().length() + 500));
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments("seed: 1\nstage1:\n  schedul: cosine", facts("3", "'stage1.schedul'", "'stage1.schedule'")),
                arguments("stage1:\n  lr: 1", facts("'stage1.lr'", "'stage1.rate'", "'stage1'")),
                arguments("stge1:\n  rate: 1", facts("'stge1'")),
                arguments("sede: 1", facts("1", "'sede'", "'seed'")),
                arguments("momentum: 0.5", facts("'optimizer.momentum'")),
                arguments("stage1:\n  backbone-rate: 1", facts("'stage2.backbone-rate'")),
                arguments("stage1:\n  schedule: plateu", facts("2", "stage1.schedule", "'plateu'", "'plateau'")),
                arguments("stage1:\n  epochs: ten", facts("stage1.epochs", "0", "'ten'")),
                arguments("stage1:\n  epochs: 2.5", facts("stage1.epochs", "0", "'2.5'")),
                arguments("stage1:\n  epochs: -1", facts("'-1'")),
                arguments("stage1:\n  rate: .nan", facts("stage1.rate", "0", "'.nan'")),
                arguments("stage1:\n  rate: .inf", facts("'.inf'")),
                arguments("stage1:\n  rate: 1e999", facts("'1e999'")),
                arguments("stage1:\n  rate: " + "9".repeat(3000), facts("stage1.rate", "0", "…'")),
                arguments("data:\n  validation: 1", facts("data.validation", "0", "1", "'1'")),
                arguments("stage1:\n  epochs: [1, 2]", facts("stage1.epochs", "N")),
                arguments("stage1:\n  epochs:\n    most: 3", facts("stage1.epochs", "N")),
                arguments("stage1:\n  epochs:\n", facts("stage1.epochs", "N")),
                arguments("stage1: 3", facts("stage1", "'3'")),
                arguments("stage1:\n", facts("stage1")),
                arguments("stage1: [3]", facts("stage1")),
                arguments("chosen: seed", facts("1", "[stage1.rate]", "'seed'")),
                arguments("chosen:\n", facts("chosen", "[stage1.rate]")),
                arguments("chosen:\n  seed: 1", facts("chosen", "[stage1.rate]")),
                arguments("chosen: [seed,\n  stage1.rat]", facts("2", "'stage1.rat'", "'stage1.rate'")),
                arguments("chosen: [seed, seed]", facts("chosen", "'seed'")),
                arguments("chosen: [seed]\nchosen: []", facts("chosen", "once")),
                arguments("chosen: [[seed]]", facts("chosen")),
                arguments("chosen:\n  -\n", facts("chosen")),
                arguments("chosen: [*a]", facts("anchor", "alias", "tag")),
                arguments("chosen: &a [seed]", facts("anchor", "alias", "tag")),
                arguments("chosen: [seed", facts("YAML")),
                arguments("chosen: " + "[".repeat(100_000), facts("chosen")),
                arguments("stage1:\n  chosen: [rate]", facts("'stage1.chosen'")),
                arguments("network:\n  logit-norm: yes", facts("true", "false", "'yes'")),
                arguments("network:\n  pooling: conv:512/rbff", facts("network.pooling", "rbff")),
                arguments("optimizer:\n  class-weights: balance", facts("'balance'", "'balanced'")),
                arguments("seed: 1\nseed: 2", facts("seed", "1")),
                arguments("seed: 99999999999999999999", facts("seed", "99999999999999999999")),
                arguments("stage1:\n  rate: 1\nstage1:\n  rate: 2", facts("stage1")),
                arguments("stage1:\n  rate: 1\nstage1.rate: 2", facts("stage1.rate", "2")),
                arguments("- seed\n", facts("'KEY: VALUE'")),
                arguments("seed", facts("'KEY: VALUE'", "'seed'")),
                arguments("seed: 1\n---\nseed: 2", facts("document")),
                arguments("seed: *a", facts("anchor", "alias", "tag")),
                arguments("seed: !!int 1", facts("anchor", "alias", "tag")),
                arguments("seed: !!java.net.URL [x]", facts("anchor", "alias", "tag")),
                arguments("data: &a\n  layout: fmd", facts("anchor", "alias", "tag")),
                arguments("&a seed: 1", facts("anchor", "alias", "tag")),
                arguments("? [a]\n: 1", facts("run.yaml")),
                arguments("<<: {seed: 1}", facts("'<<'")),
                arguments("seed: 1\n\tstage1: 2", facts("2", "YAML")),
                arguments("seed: 'open", facts("YAML")),
                arguments("seed: \u0001", facts("YAML")),
                arguments("seed: \"\\e[31m\"", facts("'\uFFFD[31m'")),
                arguments("{", facts("YAML")),
                arguments("[".repeat(100_000), facts("'KEY: VALUE'")),
                arguments("{a: ".repeat(100_000), facts("'a'")),
                arguments("{data: ".repeat(100_000), facts("'data.data'")),
                arguments("seed: " + "x".repeat(100_000), facts("seed")),
                arguments("a".repeat(1000) + ": 1", facts("…'")),
                arguments("#" + "x".repeat(1 << 20), facts("1048576")));
    }

    @Test
    void missingAndBinaryFilesAreRefused() throws IOException {
        Path file = folder.resolve("run.yaml");
        Files.write(file, "seed: é".getBytes(StandardCharsets.ISO_8859_1));
        assertRefused(file, facts("UTF-8"));
        assertRefused(folder, facts(folder));
        assertRefused(folder.resolve("absent.yaml"), facts("absent.yaml"));
    }

    private static void assertRefused(Path file, Facts message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigFile.read(file))
                .withMessageStartingWith(file + ": ")
                .has(message);
    }

    private Settings read(String text) throws IOException {
        return ConfigFile.read(Files.writeString(folder.resolve("run.yaml"), text));
    }
}
