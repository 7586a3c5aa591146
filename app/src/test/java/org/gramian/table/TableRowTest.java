package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.Optional;
import org.gramian.backbone.Backbone;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Methods;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableRowTest {
    private static final Settings TRAINED = Settings.NONE
            .with("stage1.epochs", 7)
            .with("stage2.epochs", 2)
            .with("optimizer.label-smoothing", 0.1)
            .with("network.logit-norm", true)
            .with("stage1.rate", 0.1);

    private static final Settings SVM = Settings.NONE.with("network.classifier", "svm");

    private static TableRow row(String text) {
        return TableRow.parse(text).getFirst();
    }

    @Test
    void methodIsRowUnderItsTitle() {
        List<TableRow> rows = TableRow.parse(String.join(",", Methods.names()));
        assertThat(rows).extracting(TableRow::name).containsExactlyElementsOf(Methods.names());
        assertThat(TableRow.parse("FV-CNN, Bcnn")).isEqualTo(TableRow.parse("fv-cnn,bcnn"));
    }

    @Test
    void poolingIsRowUnderLabelOrText() {
        String commas = "conv:4/rbf:sigma=mean,jitter=0.001/spd:3,init=xavier/triu";
        List<TableRow> rows = TableRow.parse("average, a & b_%=conv:4/covariance/triu,rbf/triu,x=" + commas + ",bcnn");
        assertThat(rows).extracting(TableRow::name).containsExactly("average", "a & b_%", "rbf/triu", "x", "bcnn");
        assertThat(rows)
                .extracting(TableRow::pooling)
                .containsExactly("average", "conv:4/covariance/triu", "rbf/triu", commas, "bcnn");
        assertThat(rows).extracting(TableRow::folder).containsExactly("average", "a-b_", "rbf-triu", "x", "bcnn");
    }

    @Test
    void rejectsInvalidRow() {
        assertThatThrownBy(() -> TableRow.parse("average,bcn")).has(facts("bcn", "bcnn", "gramian methods"));
        assertThatThrownBy(() -> TableRow.parse("x=conv:4/covarance/triu")).has(facts("'covarance'", "'covariance'"));
        assertThatThrownBy(() -> TableRow.parse("average,,bcnn")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TableRow.parse("%=average")).has(facts("'%'"));
    }

    @Test
    void ownSettingsOverrideThoseOfTable() {
        Settings requested = row("isqrt").with("stage1.rate", "0.5").requested(TRAINED);
        assertThat(requested.get(TrainConfig.STAGE1_RATE)).isEqualTo(0.5);
        assertThat(requested.get(TrainConfig.STAGE1_EPOCHS)).isEqualTo(7);
        assertThat(requested.get(TrainConfig.POOLING)).isEqualTo("isqrt");
        Settings solved = row("mdm").with("stage1.epochs", "3").requested(TRAINED);
        assertThat(solved.get(TrainConfig.STAGE1_EPOCHS)).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({
        "data.layout, 1",
        "data.protocol, 1",
        "data.crops, 1",
        "data.validation, 1",
        "seed, 1",
        "network.pooling, bcnn",
        "stage1.rate, fast"
    })
    void rejectsSettingForOneRow(String key, String text) {
        assertThatThrownBy(() -> row("average").with(key, text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key);
    }

    @ParameterizedTest
    @CsvSource({"'bcnn,bcnn', bcnn", "'a b=average,A-B=bcnn', a-b"})
    void rejectsRowsOfOneFolder(String rows, String named) {
        List<TableRow> parsed = TableRow.parse(rows);
        assertThatThrownBy(() -> new TableRun.Plan(parsed, Settings.NONE, Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named);
    }

    @Test
    void settingsOfEpochsDoNotApplyToSolver() {
        assertThat(row("mdm").requested(TRAINED).values())
                .containsKey("stage1.rate")
                .doesNotContainKeys(
                        "stage1.epochs", "stage2.epochs", "optimizer.label-smoothing", "network.logit-norm");
        assertThat(row("bcnn")
                        .with("network.classifier", "svm")
                        .requested(TRAINED)
                        .has("stage1.epochs"))
                .isFalse();
        assertThat(row("mdm").with("network.classifier", "softmax").refused(TRAINED))
                .isEmpty();
        assertThat(row("bcnn").refused(TRAINED)).isEmpty();
        assertThat(row("bow").requested(Settings.NONE).get(TrainConfig.CLASSIFIER))
                .map(LinearSolver::text)
                .hasValue("svm");
        Settings none = Settings.NONE.with("stage2.epochs", 0).with("network.logit-norm", false);
        assertThat(row("mdm").refused(none)).isEmpty();
    }

    @Test
    void titleNamesDifferentClassifier() {
        assertThat(title("mdm", SVM)).endsWith(", svm").startsWith(title("mdm", Settings.NONE));
        assertThat(title("bcnn", SVM)).endsWith(", svm");
        assertThat(title("vlad", SVM)).as("own classifier").isEqualTo(title("vlad", Settings.NONE));
        assertThat(title("mine=bcnn", SVM)).as("own label").isEqualTo("mine");
        assertThat(row("mdm").with("network.classifier", "softmax").title(Settings.NONE, Optional.empty()))
                .endsWith(", softmax");
    }

    private static String title(String row, Settings common) {
        return row(row).title(common, Optional.empty());
    }

    @ParameterizedTest
    @CsvSource({
        "tail, vgg16, VGG-16",
        "tail, googlenet, tail of googlenet",
        "paper-tail, vgg16, 512 conv1×1 + VGG-16",
        "paper-tail, googlenet, 832 conv1×1 + tail of googlenet",
        "tail=average, googlenet, tail"
    })
    void tailIsNamedAfterBackbone(String row, String network, String title) {
        Backbone backbone = network.equals("vgg16") ? Backbone.of(network) : Backbone.of(network, "inception_4e");
        assertThat(row(row).title(Settings.NONE, Optional.of(backbone))).isEqualTo(title);
    }
}
