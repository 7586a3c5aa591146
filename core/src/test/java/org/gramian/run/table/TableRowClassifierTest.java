package org.gramian.run.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.Settings;
import org.junit.jupiter.api.Test;

class TableRowClassifierTest {
    private static final Settings TRAINED = Settings.NONE
            .with(Keys.STAGE1_EPOCHS, 7)
            .with(Keys.STAGE2_EPOCHS, 2)
            .with(Keys.LABEL_SMOOTHING, 0.1)
            .with(Keys.LOGIT_NORM, true)
            .with(Keys.BATCH, 4);

    private static TableRow row(String text) {
        return RowList.parse(text).getFirst();
    }

    private static Settings svm(Settings settings) {
        return settings.with(Keys.CLASSIFIER.name(), "svm", Origin.CODE);
    }

    @Test
    void settingsOfTrainingDoNotApplyToASolver() {
        Settings requested = row("mdm").requested(TRAINED);
        assertThat(requested.values())
                .containsKey(Keys.BATCH.name())
                .doesNotContainKeys(
                        Keys.STAGE1_EPOCHS.name(),
                        Keys.STAGE2_EPOCHS.name(),
                        Keys.LABEL_SMOOTHING.name(),
                        Keys.LOGIT_NORM.name());
        assertThat(row("bcnn").requested(svm(TRAINED)).has(Keys.STAGE1_EPOCHS)).isFalse();
        assertThat(row("bcnn").requested(TRAINED).get(Keys.STAGE1_EPOCHS)).isEqualTo(7);
        assertThat(row("bcnn").refused(TRAINED)).isEmpty();
    }

    @Test
    void ownSettingsOfARowApply() {
        Settings requested = row("mdm").with("stage1.epochs", "3").requested(TRAINED);
        assertThat(requested.get(Keys.STAGE1_EPOCHS)).isEqualTo(3);
        TableRow trained = row("mdm").with("network.classifier", "softmax");
        assertThat(trained.requested(TRAINED).get(Keys.STAGE1_EPOCHS)).isEqualTo(7);
    }

    @Test
    void zeroEpochsAreNotRefused() {
        Settings none = Settings.NONE.with(Keys.STAGE2_EPOCHS, 0).with(Keys.LOGIT_NORM, false);
        assertThat(row("mdm").refused(none)).isEmpty();
    }

    @Test
    void titleNamesADifferentClassifier() {
        assertThat(titled("mdm", svm(Settings.NONE))).isEqualTo("T, svm");
        assertThat(titled("bcnn", svm(Settings.NONE))).isEqualTo("T, svm");
        assertThat(titled("vlad", svm(Settings.NONE))).as("own classifier").isEqualTo("T");
        assertThat(titled("mdm", Settings.NONE)).isEqualTo("T");
        assertThat(titled("mine=bcnn", svm(Settings.NONE))).as("own label").isEqualTo("T");
        assertThat(row("mdm").with("network.classifier", "softmax").titled("T", Settings.NONE))
                .isEqualTo("T, softmax");
    }

    private static String titled(String row, Settings common) {
        return row(row).titled("T", common);
    }
}
