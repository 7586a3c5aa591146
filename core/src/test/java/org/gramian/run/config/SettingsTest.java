package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.util.Map;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class SettingsTest {
    @RandomTest
    void theUpperLayerWins(Seed seed) {
        RandomConfigs configs = new RandomConfigs(seed.random());
        Settings lower = configs.next();
        for (Key<?> key : Keys.all()) {
            Settings upper = Settings.NONE.with(key.name(), configs.text(key), Origin.flag("--x"));
            Settings both = upper.over(lower);
            assertThat(both.values()).containsAllEntriesOf(upper.values()).hasSameSizeAs(lower.values());
            assertThat(both.find(key)).isEqualTo(upper.find(key));
            assertThat(lower.over(upper)).isEqualTo(lower);
        }
        assertThat(lower.over(Settings.NONE)).isEqualTo(lower);
        assertThat(Settings.NONE.over(lower)).isEqualTo(lower);
    }

    @RandomTest
    void textsAreNormalized(Seed seed) {
        RandomConfigs configs = new RandomConfigs(seed.random());
        for (Key<?> key : Keys.all()) {
            String text = key.normalize(configs.text(key));
            assertThat(key.normalize(" " + text + " ")).as(key.name()).isEqualTo(text);
        }
    }

    @Test
    void everyKeyIsDocumentedAndItsDefaultIsOneOfItsValues() {
        assertThat(Keys.names()).doesNotHaveDuplicates();
        assertThat(Keys.all()).allSatisfy(key -> {
            assertThat(key.meaning()).isNotBlank();
            assertThat(key.defaultText()).isNotBlank();
            assertThat(key.form().expected()).isNotBlank();
            assertThat(key.fixedText().map(key::normalize)).isEqualTo(key.fixedText());
        });
    }

    @Test
    void unknownKeyIsRefusedWithASuggestion() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> Settings.NONE.with("stage2.warm-up", "1", Origin.CODE))
                .has(facts("stage2.warm-up", "stage2.warmup"));
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> new Settings(Map.of("sed", new Setting("sed", "1", Origin.CODE))))
                .has(facts("sed", "seed"));
    }
}
