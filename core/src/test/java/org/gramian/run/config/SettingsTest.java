package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.Map;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.AdamW;
import org.gramian.train.Sgd;
import org.gramian.train.StiefelOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SettingsTest {
    @RandomTest
    void theUpperLayerWins(Seed seed) {
        RandomConfigs configs = new RandomConfigs(seed.random());
        Settings lower = configs.next();
        for (ConfigKey<?> key : ConfigKey.all()) {
            Settings upper = Settings.NONE.with(key.name(), configs.text(key), "--x");
            Settings both = upper.over(lower);
            assertThat(both.values()).containsAllEntriesOf(upper.values()).hasSameSizeAs(lower.values());
            assertThat(lower.over(upper)).isEqualTo(lower);
        }
        assertThat(lower.over(Settings.NONE)).isEqualTo(lower);
        assertThat(Settings.NONE.over(lower)).isEqualTo(lower);
    }

    @Test
    void everyKeyIsDocumentedAndItsDefaultIsOneOfItsValues() {
        assertThat(ConfigKey.names()).doesNotHaveDuplicates();
        assertThat(ConfigKey.all()).allSatisfy(key -> {
            assertThat(key.help()).isNotBlank();
            assertThat(key.defaultText()).isNotBlank();
            assertThat(key.values()).isNotBlank();
            assertThat(key.fixedDefault().map(text -> key.print(key.parse(text))))
                    .isEqualTo(key.fixedDefault());
        });
    }

    /** Texts of the annotations repeat constants of the optimizers. */
    @Test
    void fixedDefaultsAreThoseOfTheOptimizers() {
        Settings settings = Settings.NONE.orDefaults();
        AdamW adamW = AdamW.defaults(0);
        assertThat(settings.get(TrainConfig.MOMENTUM)).isEqualTo(Sgd.defaults(0).momentum());
        assertThat(settings.get(TrainConfig.BETA1)).isEqualTo(adamW.beta1());
        assertThat(settings.get(TrainConfig.BETA2)).isEqualTo(adamW.beta2());
        assertThat(settings.get(TrainConfig.METRIC))
                .isEqualTo(StiefelOptions.defaults().metric());
        assertThat(settings.get(TrainConfig.RETRACTION))
                .isEqualTo(StiefelOptions.defaults().retraction());
    }

    @Test
    void unknownKeyIsRefusedWithASuggestion() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> Settings.NONE.with("stage2.warm-up", "1"))
                .has(facts("stage2.warm-up", "stage2.warmup"));
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> new Settings(Map.of("sed", new Settings.Setting("sed", 1L, "code", true))))
                .has(facts("sed", "seed"));
    }

    @Test
    void typedOptionsAndPairsReachTheirKeys() {
        Settings typed = Settings.typed(Map.of("--seed", "7"), List.of("stage1.epochs = 3"), "seed=1");

        assertThat(typed.get(TrainConfig.SEED)).isEqualTo(7);
        assertThat(typed.get(TrainConfig.STAGE1_EPOCHS)).isEqualTo(3);
        assertThat(typed.setting("seed").origin()).isEqualTo("--seed");
    }

    @ParameterizedTest
    @CsvSource({
        "--seed, x,, '--seed: '",
        "--seed, 7, seed=8, '--set: seed: expected every key once, found it also in --seed'",
        ",, seed, '--set: expected KEY=VALUE'",
        ",, =7, '--set: expected KEY=VALUE'",
        ",, stage1.epoch=7, '--set: '",
    })
    void wrongOptionIsNamed(String option, String value, String pair, String message) {
        Map<String, String> typed = option == null ? Map.of() : Map.of(option, value);
        List<String> pairs = pair == null ? List.of() : List.of(pair);

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> Settings.typed(typed, pairs, "seed=1"))
                .withMessageStartingWith(message);
    }

    @Test
    void optionsOfTheCommandLineHaveNamesOfTheirOwn() {
        List<ConfigKey.Option> options = ConfigKey.options();

        assertThat(options.stream().flatMap(option -> option.names().stream())).doesNotHaveDuplicates();
        assertThat(options).allSatisfy(option -> {
            assertThat(option.names()).isNotEmpty().allMatch(name -> name.matches("-(-[a-z0-9-]+|[a-z])"));
            assertThat(ConfigKey.Option.GROUPS).contains(option.group());
            assertThat(option.help()).isNotBlank();
        });
    }
}
