package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
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
    void whatIsWrittenIsReadBack(Seed seed) {
        RunConfig config = new RandomConfigs(seed.random()).next();
        assertThat(RunConfig.of(parse(YamlText.of(config.settings())))).isEqualTo(config);
        assertThat(RunConfig.of(config.settings())).isEqualTo(config);
    }

    @RandomTest(times = 3)
    void writingTwiceGivesTheSameBytes(Seed seed) throws IOException {
        Settings settings = new RandomConfigs(seed.random()).next().settings();
        Path first = folder.resolve("a.yaml");
        Path second = folder.resolve("b.yaml");
        ConfigFile.write(first, settings);
        ConfigFile.write(second, RunConfig.of(ConfigFile.read(first)).settings());
        assertThat(second).hasSameBinaryContentAs(first);
    }

    @RandomTest
    void everyKeyCanBeSaidAloneInItsSectionOrWithADot(Seed seed) {
        for (Key<?> key : Keys.all()) {
            String text = new RandomConfigs(seed.random()).text(key);
            Settings wanted = Settings.NONE.with(key.name(), text, Origin.CODE);
            assertThat(texts(parse(YamlText.of(wanted)))).isEqualTo(texts(wanted));
            Settings dotted = parse(key.name() + ": '" + text.replace("'", "''") + "'");
            assertThat(texts(dotted)).isEqualTo(texts(wanted));
        }
    }

    /** A file of a file of a run is as good as the first, however often it is read and written. */
    @RandomTest(times = 50)
    void whatNobodyAskedForIsStillKnownAfterReading(Seed seed) {
        SplittableRandom random = seed.random();
        Settings whole = new RandomConfigs(random).next().settings();
        for (String key : Keys.names()) {
            whole = random.nextBoolean() ? whole.unwanted(key) : whole;
        }
        Settings read = parse(YamlText.of(whole));
        assertThat(texts(read)).isEqualTo(texts(whole));
        assertThat(texts(read.wanted())).isEqualTo(texts(whole.wanted()));
        assertThat(texts(parse(YamlText.of(read)).wanted())).isEqualTo(texts(whole.wanted()));
    }

    @Test
    void theListOfTheChosenMayStandAnywhere() {
        Settings settings = parse("chosen:\n  - seed\n  - stage1.rate\nseed: 3\nstage1:\n  epochs: 4\n");
        assertThat(texts(settings)).isEqualTo("[stage1.epochs=4, seed=3]");
        assertThat(texts(settings.wanted())).isEqualTo("[stage1.epochs=4]");
    }

    static Settings parse(String text) {
        return YamlSettings.read(text, Path.of("run.yaml"));
    }

    private static String texts(Settings settings) {
        return settings.values().values().stream()
                .map(setting -> setting.key() + "=" + setting.text())
                .toList()
                .toString();
    }

    @Test
    void theOriginIsTheFilesNameAndTheLine() throws IOException {
        Settings settings = read("# mine\nseed: 3\nstage1:\n  rate: 0.5 # high\n");
        assertThat(settings.values().get("seed"))
                .isEqualTo(new Setting("seed", "3", new Origin("run.yaml, line 2", true)));
        assertThat(settings.values().get("stage1.rate"))
                .isEqualTo(new Setting("stage1.rate", "0.5", new Origin("run.yaml, line 4", true)));
    }

    @Test
    void originsStandBehindTheValues() throws IOException {
        Path file = folder.resolve("out.yaml");
        ConfigFile.write(
                file,
                Settings.NONE
                        .with("seed", "7", Origin.flag("--seed"))
                        .with("stage1.rate", "1e-5", Origin.chosen("a\nb")));
        assertThat(Files.readAllLines(file))
                .containsExactly(
                        "# Configuration of a training run: gramian train DIR --config THIS-FILE",
                        "stage1:",
                        "  rate: 1e-5                             # chosen: a\uFFFDb",
                        "seed: 7                                  # --seed",
                        "# What the program chose: it holds as it stands above, and is chosen again where an option asks for"
                                + " anything else.",
                        "# Remove a key from this list when you change its value, or to keep it in any case.",
                        "chosen:",
                        "  [stage1.rate]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "# nothing\n", "---\n", "{}", "---\n...\n"})
    void anEmptyFileSaysNothing(String text) throws IOException {
        assertThat(read(text)).isEqualTo(Settings.NONE);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void aFaultIsSaidWithLineAndKey(String text, String message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> read(text))
                .withMessageStartingWith(folder.resolve("run.yaml").toString())
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.getMessage())
                        .doesNotContain("\n")
                        .hasSizeLessThan(folder.toString().length() + 500));
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments(
                        "seed: 1\nstage1:\n  schedul: cosine",
                        ", line 3: there is no key 'stage1.schedul' (did you mean 'stage1.schedule'?)"),
                arguments(
                        "stage1:\n  lr: 1",
                        "there is no key 'stage1.lr' (did you mean 'stage1.rate'?); the section 'stage1' has epochs, rate"),
                arguments("stge1:\n  rate: 1", "there is no key 'stge1'"),
                arguments("sede: 1", "line 1: there is no key 'sede' (did you mean 'seed'?)"),
                arguments("momentum: 0.5", "(did you mean 'optimizer.momentum'?)"),
                arguments("stage1:\n  backbone-rate: 1", "(did you mean 'stage2.backbone-rate'?)"),
                arguments(
                        "stage1:\n  schedule: plateu",
                        "line 2: stage1.schedule: there is no schedule 'plateu' (did you mean 'plateau'?)"),
                arguments(
                        "stage1:\n  epochs: ten", "stage1.epochs: expected a whole number of at least 0, found 'ten'"),
                arguments(
                        "stage1:\n  epochs: 2.5", "stage1.epochs: expected a whole number of at least 0, found '2.5'"),
                arguments("stage1:\n  epochs: -1", "found '-1'"),
                arguments("stage1:\n  rate: .nan", "stage1.rate: expected a number of at least 0, as 0.01, or auto, found '.nan'"),
                arguments("stage1:\n  rate: .inf", "found '.inf'"),
                arguments("stage1:\n  rate: 1e999", "found '1e999'"),
                arguments("stage1:\n  rate: " + "9".repeat(3000), "expected a number of at least 0, as 0.01, or auto, found '999"),
                arguments("data:\n  validation: 1", "data.validation: expected a number from 0 to below 1, found '1'"),
                arguments("stage1:\n  epochs: [1, 2]", "stage1.epochs: expected N, found a list"),
                arguments("stage1:\n  epochs:\n    most: 3", "stage1.epochs: expected N, found keys below it"),
                arguments("stage1:\n  epochs:\n", "stage1.epochs: expected N, found nothing; leave the key out"),
                arguments("stage1: 3", "stage1: expected keys below it, found '3'"),
                arguments("stage1:\n", "stage1: expected keys below it, found nothing"),
                arguments("stage1: [3]", "stage1: expected keys below it, found a list"),
                arguments("chosen: seed", "line 1: chosen: expected a list of keys, as [stage1.rate], found 'seed'"),
                arguments("chosen:\n", "chosen: expected a list of keys, as [stage1.rate], found nothing"),
                arguments("chosen:\n  seed: 1", "chosen: expected a list of keys, as [stage1.rate], found keys below"),
                arguments(
                        "chosen: [seed,\n  stage1.rat]",
                        "line 2: chosen: there is no key 'stage1.rat' (did you mean 'stage1.rate'?)"),
                arguments("chosen: [seed, seed]", "chosen: expected every key once, found 'seed' again"),
                arguments("chosen: [seed]\nchosen: []", "chosen: expected every key once, found it on line 1, too"),
                arguments("chosen: [[seed]]", "chosen: expected the name of a key, found a list"),
                arguments("chosen:\n  -\n", "chosen: expected the name of a key, found nothing"),
                arguments("chosen: [*a]", "found an anchor, an alias or a tag"),
                arguments("chosen: &a [seed]", "found an anchor, an alias or a tag"),
                arguments("chosen: [seed", "expected YAML, found: "),
                arguments("chosen: " + "[".repeat(100_000), "chosen: expected the name of a key, found a list"),
                arguments("stage1:\n  chosen: [rate]", "there is no key 'stage1.chosen'"),
                arguments("network:\n  logit-norm: yes", "expected true or false, found 'yes'"),
                arguments("network:\n  pooling: conv:512/rbff", "network.pooling: "),
                arguments("optimizer:\n  class-weights: balance", "found 'balance' (did you mean 'balanced'?)"),
                arguments("seed: 1\nseed: 2", "seed: expected every key once, found it on line 1, too"),
                arguments("seed: 99999999999999999999", "seed: expected a whole number, found"),
                arguments("stage1:\n  rate: 1\nstage1:\n  rate: 2", "expected every key once"),
                arguments(
                        "stage1:\n  rate: 1\nstage1.rate: 2",
                        "stage1.rate: expected every key once, found it on line 2"),
                arguments("- seed\n", "expected lines 'KEY: VALUE', found a list"),
                arguments("seed", "expected lines 'KEY: VALUE', found 'seed'"),
                arguments("seed: 1\n---\nseed: 2", "expected one document"),
                arguments("seed: *a", "found an anchor, an alias or a tag"),
                arguments("seed: !!int 1", "found an anchor, an alias or a tag"),
                arguments("seed: !!java.net.URL [x]", "found an anchor, an alias or a tag"),
                arguments("data: &a\n  layout: fmd", "found an anchor, an alias or a tag"),
                arguments("&a seed: 1", "found an anchor, an alias or a tag"),
                arguments("? [a]\n: 1", "expected"),
                arguments("<<: {seed: 1}", "there is no key '<<'"),
                arguments("seed: 1\n\tstage1: 2", "line 2: expected YAML, found: "),
                arguments("seed: 'open", "expected YAML, found: "),
                arguments("seed: \u0001", "expected YAML, found: "),
                arguments("seed: \"\\e[31m\"", "found '\uFFFD[31m'"),
                arguments("{", "expected YAML, found: "),
                arguments("[".repeat(100_000), "expected lines 'KEY: VALUE', found a list"),
                arguments("{a: ".repeat(100_000), "there is no key 'a'"),
                arguments("{data: ".repeat(100_000), "there is no key 'data.data'"),
                arguments("seed: " + "x".repeat(100_000), "seed: expected a whole number"),
                arguments("a".repeat(1000) + ": 1", "there is no key 'aaa"),
                arguments("#" + "x".repeat(1 << 20), "expected a configuration of at most 1048576 bytes, found more"));
    }

    @Test
    void aBillionLaughsAreNotHeard() {
        StringBuilder text = new StringBuilder("a: &a [lol]\n");
        for (char c = 'b'; c < 'k'; c++) {
            text.append(c + ": &" + c + " [" + ("*" + (char) (c - 1) + ",").repeat(9) + "]\n");
        }
        assertThatExceptionOfType(ConfigException.class).isThrownBy(() -> read(text.toString()));
    }

    @Test
    void whatIsNoFileOrNoTextIsRefused() throws IOException {
        Path file = folder.resolve("run.yaml");
        Files.write(file, "seed: é".getBytes(StandardCharsets.ISO_8859_1));
        assertRefused(file, "expected text in UTF-8");
        assertRefused(folder, "found what is no regular file");
        assertRefused(folder.resolve("absent.yaml"), "found nothing of that name");
    }

    private static void assertRefused(Path file, String message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ConfigFile.read(file))
                .withMessageStartingWith(file + ": ")
                .withMessageContaining(message);
    }

    private Settings read(String text) throws IOException {
        return ConfigFile.read(Files.writeString(folder.resolve("run.yaml"), text));
    }
}
