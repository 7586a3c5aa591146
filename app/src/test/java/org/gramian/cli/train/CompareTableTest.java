package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CompareTableTest extends TrainFixture {
    private static final String COVARIANCE = "cov=pca:4/covariance/triu";

    @BeforeEach
    void setFolder() {
        out = root.resolve("table");
    }

    private List<String> line(Object... more) {
        List<String> line = new ArrayList<>(
                List.of("compare", tiny.images().root().toString(), "--out", out.toString(), "--backbone", "filters"));
        line.addAll(tiny.context());
        line.addAll(List.of("--protocol", "kfold:2", "--crops", "center:32", "--fine-tune", "0", "--threads", "1"));
        line.addAll(List.of("--set", "stage1.refit=none"));
        Stream.of(more).map(Object::toString).forEach(line::add);
        return line;
    }

    private Run compare(Object... more) {
        return Run.of(line(more).toArray());
    }

    @Test
    void tableIsPrintedAndWrittenInEveryFormat() throws IOException {
        Object[] rows = {"--methods", "average," + COVARIANCE, "--epochs", 2};
        Run run = compare(rows).done();
        assertThat(run.out())
                .has(facts("pictures", "mean ± std", "2"))
                .containsPattern("average +\\*?\\d+\\.\\d ± \\d+\\.\\d +– +– +120 +363")
                .containsPattern("cov +\\*?\\d+\\.\\d ± \\d+\\.\\d +[+-]\\d.*\\) +\\S+ +10 +33");
        assertThat(run.err()).containsPattern("2 of 2\\W+cov").containsPattern("2/2 cov\\W+fold 2/2");
        for (String file : List.of("table.md", "table.csv", "table.json")) {
            assertThat(out.resolve(file)).content().contains("--methods", "kfold:2");
        }
        Run again = compare(rows).done();
        assertThat(again.err()).doesNotContain("epoch 1/");
        assertThat(again.out()).isEqualTo(run.out());
        assertThat(out.resolve("pictures/cov/summary.txt")).content().contains("gramian predict ");
        Run resumed = Run.of("train", "--resume", out.resolve("pictures/cov"), "--no-cache", "--device", "cpu");
        assertThat(resumed.code())
                .as("a row is an ordinary run: " + resumed.err())
                .isZero();
        compare("--methods", "average", "--epochs", 3)
                .failed(ExitCode.USAGE, "pictures/average/config.yaml", "stage1.epochs", "3", "2");
    }

    @Test
    void failedRowSetsExitCode() {
        Run run = compare("--methods", "large=pca:4/covariance/spd:9/triu,average", "--epochs", 1);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out())
                .has(facts("large", "pictures", "network.pooling"))
                .doesNotContainPattern("large +\\*?\\d")
                .containsPattern("average +\\*\\d");
        Run weights = compare(
                "--methods", "average,net=average", "--set-for", "net:network.backbone=squeezenet", "--epochs", 1);
        assertThat(weights.code()).isEqualTo(ExitCode.MODEL);
        assertThat(weights.out()).has(facts("net", "squeezenet"));
    }

    @Test
    void dryRunPlansWithoutTraining() {
        Run run = compare("--methods", "average," + COVARIANCE, "--dry-run").done();
        assertThat(run.out()).containsPattern("average +– +– +– +120 +363");
        String large = "pca:4/covariance/spd:9/triu";
        Run failed = compare("--methods", "a=" + large + ",b=" + large, "--dry-run");
        assertThat(failed.code()).isEqualTo(ExitCode.USAGE);
        assertThat(failed.out()).has(facts("a", "b", "network.pooling"));
        assertThat(out).doesNotExist();
    }

    @Test
    void optionsSetBaselineAndRow() {
        Run run = compare((Object[]) ("--methods bcnn,isqrt,average --baseline isqrt --epochs 3 --dry-run"
                                + " --set-for bcnn:network.classifier=mean")
                        .split(" "))
                .done();
        assertThat(run.out()).has(facts("stage1.epochs=3", "B-CNN, mean", "percentage points over iSQRT-COV"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--methods averge | --methods, averge, average, gramian methods",
                "--methods average --baseline bcnn | --baseline, average, bcnn",
                "--methods average --set-for averag:seed=1 | --set-for, averag:seed=1, average",
                "--methods average --set-for average:seed=1 | seed",
                "--methods average --pooling bcnn | --pooling, LABEL=bcnn",
                "--methods average --json x.json | --json",
                "--preset table3 | table1, table2, family",
                "--epochs 1 | --methods, --preset, --out, --protocol, --crops, --backbone"
            })
    void rejectsOptionsBeforeTraining(String options, String words) {
        compare((Object[]) options.split(" ")).refused(ExitCode.USAGE, (Object[]) words.split(", "));
        assertThat(out).doesNotExist();
    }

    @Test
    void rejectsMissingAndRepeatedFolder() {
        List<String> twice = line("--methods", "average");
        twice.add(2, twice.get(1));
        Run.of(twice.toArray()).refused(ExitCode.USAGE, twice.get(1));
        Run.of("compare", "--methods", "average").refused(ExitCode.USAGE, "DIR");
    }
}
