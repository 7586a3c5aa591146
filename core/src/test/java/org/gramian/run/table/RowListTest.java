package org.gramian.run.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.Set;
import org.gramian.pooling.Methods;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.junit.jupiter.api.Test;

/** How rows are typed. */
class RowListTest {
    @Test
    void everyMethodIsARowUnderItsTitle() {
        List<TableRow> rows = RowList.parse(String.join(",", Methods.names()));
        assertThat(rows).extracting(TableRow::name).containsExactlyElementsOf(Methods.names());
        assertThat(rows)
                .extracting(TableRow::title)
                .containsExactlyElementsOf(
                        Methods.all().stream().map(method -> method.title()).toList());
    }

    @Test
    void aPoolingIsARowUnderItsLabelOrItsOwnText() {
        List<TableRow> rows = RowList.parse("average, a & b_%=conv:4/covariance/triu,rbf/triu/root/l2");
        assertThat(rows).extracting(TableRow::name).containsExactly("average", "a & b_%", "rbf/triu/root/l2");
        assertThat(rows)
                .extracting(TableRow::pooling)
                .containsExactly("average", "conv:4/covariance/triu", "rbf/triu/root/l2");
        assertThat(rows).extracting(TableRow::folder).containsExactly("average", "a-b_", "rbf-triu-root-l2");
    }

    @Test
    void commasInsideAPoolingDoNotEndTheRow() {
        String text = "conv:4/rbf:sigma=mean,jitter=0.001/spd:3,init=xavier/triu";
        assertThat(RowList.parse("average,x=" + text + ",bcnn," + text))
                .extracting(TableRow::pooling)
                .containsExactly("average", text, "bcnn", text);
    }

    @Test
    void invalidRowIsRefusedWithTheNearestMethod() {
        assertThatThrownBy(() -> RowList.parse("average,bcn"))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("bcn", "bcnn", "gramian methods", "gramian pool --help"));
        assertThatThrownBy(() -> RowList.parse("x=conv:4/covarance/triu"))
                .has(facts("conv:4/covarance/triu", "'covarance'", "'covariance'"));
        assertThatThrownBy(() -> RowList.parse("average,,bcnn")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RowList.parse("%=average")).has(facts("'%'"));
    }

    @Test
    void ownSettingsOverrideThoseOfTheTable() {
        TableRow row = RowList.parse("isqrt").getFirst().with("stage1.rate", "0.5");
        Settings requested =
                row.requested(Settings.NONE.with(Keys.STAGE1_RATE, 0.1).with(Keys.STAGE1_EPOCHS, 7));
        assertThat(requested.get(Keys.STAGE1_RATE)).isEqualTo(0.5);
        assertThat(requested.get(Keys.STAGE1_EPOCHS)).isEqualTo(7);
        assertThat(requested.get(Keys.POOLING)).isEqualTo("isqrt");
    }

    @Test
    void methodNamesIgnoreCase() {
        assertThat(RowList.parse("FV-CNN, Bcnn")).isEqualTo(RowList.parse("fv-cnn,bcnn"));
    }

    @Test
    void sharedKeysCannotDifferBetweenRows() {
        TableRow row = RowList.parse("average").getFirst();
        for (String key : List.of("data.layout", "data.protocol", "data.crops", "data.validation", "seed")) {
            assertThatThrownBy(() -> row.with(key, "1")).hasMessageContaining(key);
        }
        assertThatThrownBy(() -> row.with("network.pooling", "bcnn")).hasMessageContaining("LABEL=bcnn");
        assertThatThrownBy(() -> row.with("stage1.rat", "1")).hasMessageContaining("stage1.rate");
        assertThatThrownBy(() -> row.with("stage1.rate", "fast")).hasMessageContaining("'fast'");
    }

    @Test
    void rowsMustBeDistinctAndNamedRowsMustExist() {
        List<TableRow> rows = RowList.parse("average,bcnn");
        TablePlan plan = TablePlan.of(rows, Settings.NONE);
        assertThat(plan.baseline()).isEmpty();
        assertThat(plan.against("bcnn").baseline()).hasValue("bcnn");
        assertThat(plan.only()).containsExactlyInAnyOrder("average", "bcnn");
        assertThatThrownBy(() -> plan.against("bcn")).has(facts("'bcn'", "'bcnn'"));
        assertThatThrownBy(() -> plan.training(Set.of("isqrt"))).has(facts("average", "bcnn", "isqrt"));
        assertThatThrownBy(() -> TablePlan.of(RowList.parse("bcnn,bcnn"), Settings.NONE))
                .has(facts("'bcnn'"));
        assertThatThrownBy(() -> TablePlan.of(RowList.parse("a b=average,A-B=bcnn"), Settings.NONE))
                .has(facts("a-b"));
        assertThatThrownBy(() -> TablePlan.of(List.of(), Settings.NONE)).isInstanceOf(IllegalArgumentException.class);
    }
}
