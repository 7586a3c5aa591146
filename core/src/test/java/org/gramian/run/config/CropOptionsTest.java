package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CropOptionsTest {
    private static Settings crops(String text) {
        return Settings.NONE.with("data.crops", CropPlan.parse(text));
    }

    @Test
    void withoutOptionsNothingChanges() {
        Settings settings = crops("ten:96");
        assertThat(new CropOptions(null, null, null).applyTo(settings)).isEqualTo(settings);
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
                    center:224, 320, -,   -,     center:320, -
                    paper:96,   -,   128, -,     paper:96,   paper:128
                    resize:96,  -,   -,   none,  resize:96,  resize:96
                    resize:96,  -,   -,   flips, resize:96,  resize:96+flips
                    paper:96,   -,   -,   none,  paper:96,   center:96
                    center:96,  -,   -,   five,  center:96,  paper:96
                    center:96,  64,  80,  ten,   center:64,  ten:80
                    center+box, -,   -,   Flips, center:224+box, center:224+flips+box
                    """)
    void optionsChangeSizeAndKind(
            String plan,
            @Nullable String size,
            @Nullable String testSize,
            @Nullable String tta,
            String crops,
            @Nullable String test) {
        Settings found = new CropOptions(size, testSize, tta).applyTo(crops(plan));
        assertThat(found.get(TrainConfig::crops).text()).isEqualTo(crops);
        assertThat(found.find(TrainConfig::testCrops).flatMap(one -> one).map(CropPlan::text))
                .isEqualTo(Optional.ofNullable(test));
    }

    @Test
    void theSizeAppliesToTheCropsOfTheFidelity() {
        Settings paper = Settings.NONE.with("fidelity", "paper");
        assertThat(new CropOptions("96", null, null)
                        .applyTo(paper)
                        .get(TrainConfig::crops)
                        .text())
                .isEqualTo("paper:96");
        assertThat(new CropOptions("96", null, null)
                        .applyTo(Settings.NONE)
                        .get(TrainConfig::crops)
                        .text())
                .isEqualTo("resize:96");
    }

    @Test
    void testCropsThatAreSetAreTheBase() {
        Settings set = crops("center:96").with("data.test-crops", "resize:100");
        assertThat(new CropOptions(null, "128", null).applyTo(set).get(TrainConfig::testCrops))
                .contains(CropPlan.parse("resize:128"));
    }

    @Test
    void wrongValuesAreNamedByTheirOption() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> new CropOptions(null, null, "tenn").applyTo(Settings.NONE))
                .has(facts("--tta", "none", "flips", "five", "ten", "ten", "tenn"));
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> new CropOptions(null, "x", null).applyTo(Settings.NONE))
                .has(facts("--test-size", "x"));
    }
}
