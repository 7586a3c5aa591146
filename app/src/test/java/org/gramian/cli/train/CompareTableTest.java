package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Program;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.table.TableReport;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code gramian compare DIR --methods}: a table that is trained, broken, gone on with and shown. */
class CompareTableTest {
    private static final String COVARIANCE = "cov=pca:4/covariance/triu";

    @TempDir
    private Path root = Path.of("");

    private TinyTraining tiny = new TinyTraining(Path.of(""));
    private Path out = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        tiny = TinyTraining.in(root);
        out = root.resolve("table");
    }

    private List<String> line(Object... more) {
        List<String> line = new ArrayList<>(
                List.of("compare", tiny.images().root().toString(), "--out", out.toString(), "--backbone", "filters"));
        line.addAll(tiny.context());
        line.addAll(List.of("--protocol", "kfold:2", "--crops", "center:32", "--fine-tune", "0", "--threads", "1"));
        Stream.of(more).map(Object::toString).forEach(line::add);
        return line;
    }

    private Run compare(Object... more) {
        return Run.of(line(more).toArray());
    }

    @Test
    void theTableIsShownAndKeptInEveryForm() throws IOException {
        Run run = compare("--methods", "average," + COVARIANCE, "--epochs", 2);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .has(facts("pictures", "mean ± std", "2"))
                .containsPattern("average +\\*?\\d+\\.\\d ± \\d+\\.\\d +– +– +120 +363 +\\d")
                .containsPattern("cov +\\*?\\d+\\.\\d ± \\d+\\.\\d +[+-]\\d.*\\) +\\S+ +10 +33 +\\d");
        assertThat(run.out().lines())
                .allSatisfy(shown -> assertThat(shown.length()).isLessThanOrEqualTo(140));
        assertThat(run.err())
                .containsPattern("1 of 2\\W+average")
                .containsPattern("2 of 2\\W+cov")
                .containsPattern("2/2 cov\\W+fold 2/2");
        for (TableReport.Format form : TableReport.Format.values()) {
            assertThat(Files.readString(out.resolve(form.file())))
                    .as(form.file())
                    .contains("--methods", "data.protocol=kfold:2".substring(0, 13));
        }
        Run again = compare("--methods", "average," + COVARIANCE, "--epochs", 2, "--format", "markdown");
        assertThat(again.code()).as(again.err()).isZero();
        assertThat(again.err()).doesNotContain("epoch 1/");
        assertThat(again.out()).isEqualTo(Files.readString(out.resolve("table.md")));
        assertThat(Files.readString(out.resolve("pictures/cov/summary.txt"))).contains("gramian predict ");
        Run evaluated = Run.of("train", "--resume", out.resolve("pictures/cov"), "--no-cache", "--device", "cpu");
        assertThat(evaluated.code())
                .as("a row is an ordinary run: " + evaluated.err())
                .isZero();
        Run results = Run.of("compare", out.resolve("pictures/average"), out.resolve("pictures/cov"));
        assertThat(results.code()).as(results.err()).isZero();
    }

    @Test
    void rowsAreTrainedOneByOneAgainstAnyBaseline() {
        Object[] rows = {"--methods", "average,bcnn=pca:3/bilinear/triu/root/l2", "--epochs", 1, "--baseline", "bcnn"};
        Run first = compare(
                Stream.concat(Stream.of(rows), Stream.of("--only", "average")).toArray());
        assertThat(first.code()).as(first.err()).isZero();
        assertThat(first.out()).containsPattern("bcnn +–").doesNotContainPattern("average .*[+-]\\d+\\.\\d \\(");
        Run both = compare(rows);
        assertThat(both.code()).as(both.err()).isZero();
        assertThat(both.err()).doesNotContainPattern("1 of 2\\W+average").containsPattern("2 of 2\\W+bcnn");
        assertThat(both.out()).containsPattern("average .*[+-]\\d+\\.\\d \\(").doesNotContainPattern("bcnn +–");
    }

    @Test
    void whatCannotBeTrainedIsSaidAndTheRestIsTrained() {
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
    void aDryRunShowsSizesAndTrainsNothing() {
        Run run = compare("--methods", "average," + COVARIANCE, "--dry-run");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("average +average +pictures +120 +363 .*\\d+ s");
        assertThat(out).doesNotExist();
    }

    @Test
    void aDryRunOfNothingSaysEachReasonOnceAndEstimatesNothing() {
        String large = "pca:4/covariance/spd:9/triu";
        Run run = compare("--methods", "a=" + large + ",b=" + large, "--dry-run");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).has(facts("a", "b", "network.pooling")).doesNotContainPattern("\\d+ (s|min)\\b");
        Run table = compare("--methods", "a=" + large);
        assertThat(table.out()).has(facts("network.pooling")).doesNotContain("*");
    }

    @Test
    void aClassifierThatIsSolvedForHasNoStages() {
        Run run = compare("--methods", "average", "--classifier", "mean", "--epochs", 2);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("average, mean +\\*\\d").has(facts("stage1.epochs=2"));
        assertThat(run.err()).containsPattern("\\d %");
        Run dry = Run.of("train", tiny.images().root(), "--backbone", "filters", "--classifier", "mean", "--dry-run");
        assertThat(dry.out()).contains("network.classifier");
    }

    @Test
    void rowsAreFoundByTheirTitlesToo() {
        Run run = compare(
                "--methods",
                "bcnn,isqrt,average",
                "--only",
                "average,B-CNN",
                "--baseline",
                "iSQRT-COV",
                "--set-for",
                "B-CNN:network.classifier=mean",
                "--epochs",
                3,
                "--dry-run");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern("B-CNN, mean +bcnn +pictures .* \\d+ s")
                .containsPattern("iSQRT-COV +isqrt +pictures .* –")
                .has(facts("stage1.epochs=3", "B-CNN, mean"));
    }

    @Test
    void severalFoldersAreColumns() throws IOException {
        Path second = root.resolve("other & more");
        ImageFolder.tiny(second);
        List<String> line = new ArrayList<>(line("--methods", "average", "--epochs", 1));
        line.add(2, second.toString());
        Run run = Run.of(line.toArray());
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("method +pictures +other-more\\R").contains("other-more");
    }

    private void assertRefused(List<String> line, Facts words) {
        Run run = Run.of(line.toArray());
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(words).doesNotContain("Exception").doesNotContain("\tat ");
        assertThat(run.out()).isEmpty();
        assertThat(out).doesNotExist();
    }

    @Test
    void whatIsWrongIsSaidBeforeAnythingIsTrained() {
        assertRefused(line("--methods", "averge"), facts("--methods", "'averge'", "'average'", "gramian methods"));
        List<String> twice = line("--methods", "average");
        twice.add(2, twice.get(1));
        assertRefused(twice, facts(twice.get(1)));
        assertRefused(line("--methods", "average", "--baseline", "bcnn"), facts("--baseline", "average", "bcnn"));
        assertRefused(line("--methods", "average", "--only", "avrage"), facts("--only", "'avrage'", "'average'"));
        assertRefused(
                line("--methods", "average", "--set-for", "averag:seed=1"),
                facts("--set-for", "'averag:seed=1'", "'average'"));
        assertRefused(line("--methods", "average", "--set-for", "average:seed=1"), facts("seed"));
        assertRefused(line("--methods", "average", "--pooling", "bcnn"), facts("--pooling", "LABEL=bcnn"));
        assertRefused(line("--methods", "average", "--format", "word"), facts("markdown", "csv", "json"));
        assertRefused(line("--methods", "average", "--json", "x.json"), facts("--json"));
        assertRefused(line("--preset", "table3"), facts("table1", "table2", "family"));
        assertRefused(line(), facts("--methods", "--preset", "--out", "--protocol", "--crops", "--backbone"));
        assertRefused(List.of("compare", "--methods", "average"), facts("DIR"));
        assertRefused(List.of("compare", "--preset", "table2"), facts("DTD", "dtd", "FGVC-Aircraft", "DIR"));
    }

    @Test
    void anotherConfigurationInTheSameFolderIsRefused() {
        assertThat(compare("--methods", "average", "--epochs", 1).code()).isZero();
        Run run = compare("--methods", "average", "--epochs", 2);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts("pictures/average/config.yaml", "stage1.epochs", "2", "1"));
    }

    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    @DisabledOnOs(OS.WINDOWS)
    void aTableThatWasKilledAndInterruptedEndsWithTheSameBytes() throws IOException, InterruptedException {
        Object[] rows = {
            "--methods", "average," + COVARIANCE, "--epochs", 12, "--schedule", "constant", "--keep-every", "0s"
        };
        Path log = root.resolve("log");
        try (Program program = Program.start(log, line(rows))) {
            await(program, out.resolve("pictures/average/fold-2/checkpoint.safetensors"));
            program.kill();
        }
        try (Program program = Program.start(log, line(rows))) {
            await(program, out.resolve("pictures/cov/fold-1/checkpoint.safetensors"));
            program.process().destroy();
            assertThat(program.code()).as(program.said()).isEqualTo(ExitCode.INTERRUPTED);
            assertThat(program.said()).contains("gramian compare ");
        }
        Run gone = compare(rows);
        assertThat(gone.code()).as(gone.err()).isZero();
        assertThat(gone.err()).doesNotContainPattern("1 of 2\\W+average");
        List<String> broken = untimed();
        try (Stream<Path> runs = Files.walk(out.resolve("pictures"))) {
            for (Path path : runs.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
        assertThat(compare(rows).code()).isZero();
        assertThat(untimed()).isEqualTo(broken);
    }

    private static void await(Program program, Path file) throws InterruptedException {
        while (program.process().isAlive() && !Files.exists(file)) {
            Thread.sleep(1);
        }
    }

    /** All forms without the times of epochs. */
    private List<String> untimed() throws IOException {
        List<String> texts = new ArrayList<>();
        String json = Files.readString(out.resolve("table.json"));
        texts.add(json.replaceAll("\"seconds_per_epoch\" : [^,]+,", ""));
        texts.add(Files.readString(out.resolve("table.md")).replaceAll("\\| \\d+\\.\\d+ \\|", ""));
        return texts;
    }
}
