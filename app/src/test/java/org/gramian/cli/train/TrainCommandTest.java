package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.cli.Run;
import org.gramian.cli.TinyRun;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.train.loop.StageResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code gramian train} from the command line to the run's folder, and what the other commands make of it. */
@ExtendWith(TinyRun.class)
final class TrainCommandTest extends TrainFixture {
    private static final int SCREEN = 40;
    private static final int BUDGET = Boolean.getBoolean("gramian.full") ? 15 : 5;

    /** Backbone where no weights are installed. */
    private static final String WITHOUT_INSTALLED =
            BundledWeights.has(BundledWeights.NAME) ? BundledWeights.NAME : "filters";

    private static byte[] model(Path folder) throws IOException {
        return Files.readAllBytes(folder.resolve("model.safetensors"));
    }

    @Test
    void imagesAloneAreEnough() throws IOException {
        Run run = Run.of(
                        "train",
                        tiny.images().root(),
                        "--weights-dir",
                        root.resolve("weights"),
                        "--no-cache",
                        "--out",
                        out)
                .done();
        assertThat(run.err())
                .has(facts("backbone", WITHOUT_INSTALLED, "weights", out, "pooling", "auto"))
                .doesNotContain("Exception");
        assertThat(run.out())
                .has(facts("holdout:0.2", "accuracy", "gramian predict"))
                .contains("gramian predict " + out)
                .satisfies(text -> assertThat(text.lines()).hasSizeLessThan(SCREEN));
        assertThat(TinyTraining.names(out))
                .contains("model.safetensors", "evaluation.json", "predictions.csv", "gallery.safetensors")
                .contains(".lock", "audit.json", "config.yaml", "images.txt", "candidates.json", "report.html")
                .contains("summary.txt")
                .doesNotContain("checkpoint.safetensors", "frozen.safetensors", "stage1.json");
        assertThat(run.err()).has(facts(out.resolve("report.html")));
        assertThat(out.resolve("summary.txt")).hasContent(run.out());
        assertThat(out.resolve("config.yaml")).content().contains("pooling: auto");
    }

    @Test
    void dryRunShowsKeysWithEffectAndWritesNothing() throws IOException {
        Run run = tiny.train(out, "--dry-run", "--epochs", "7").done();
        assertThat(run.out())
                .contains("data.crops", "network.pooling", "stage1.rate", "stage2.epochs", "optimizer.batch")
                .doesNotContain("stage2.rate", "gallery");
        assertThat(ConfigKey.names()).contains("stage2.rate", "gallery");
        assertThat(run.out().lines().filter(line -> line.contains("epochs") && line.contains("--epochs")))
                .hasSize(1);
        assertThat(run.out()).has(facts("--set", "--pooling", "default", "weights"));
        assertThat(TinyTraining.names(root)).containsExactly("pictures", "weights");
    }

    @Test
    void configurationRepeatsRunToTheByte() throws IOException {
        Run.of(
                        "train",
                        TinyRun.training().images().root(),
                        "--config",
                        TinyRun.folder().resolve("config.yaml"),
                        "--weights-dir",
                        root.resolve("weights"),
                        "--no-cache",
                        "--decode-threads",
                        "1",
                        "--out",
                        out)
                .done();
        assertThat(model(out)).isEqualTo(model(TinyRun.folder()));
        Path other = root.resolve("other");
        tiny.train(other, "--epochs", TinyRun.EPOCHS, "--seed", "6").done();
        assertThat(model(other)).isNotEqualTo(model(out));
    }

    /** The stage would take minutes: the budget ends it, and test and report still fit in. */
    @Test
    void timeBudgetCoversTestAndReport() throws IOException {
        long start = System.nanoTime();
        tiny.train(out, "--epochs", "100000", "--schedule", "constant", "--time-budget", BUDGET + "s")
                .done();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(BUDGET + 15));
        assertThat(TinyTraining.names(out)).contains("model.safetensors", "report.html", "evaluation.json");
    }

    @Test
    void resumedFinishedRunPrintsItsResultAgain() throws IOException {
        TinyRun.copy(out);
        byte[] model = model(out);
        Run again = tiny.goOn(out).done();
        assertThat(again.out())
                .isEqualTo(TinyRun.run().out().replace(TinyRun.folder().toString(), out.toString()));
        assertThat(again.err()).has(facts(out)).doesNotContain("epoch 1/");
        assertThat(model(out)).isEqualTo(model);
    }

    @Test
    void improvingStageAdvisesMoreEpochs() throws IOException {
        Run run = tiny.train(out, "--epochs", "3", "--pooling", "average").done();
        StageResult first = StageResult.read(out).getFirst();
        assertThat(first.epochs()).isEqualTo(3);
        String advice = first.advice().orElseThrow();
        assertThat(advice).contains("in the last 2 of 3 epochs", "--epochs 6");
        assertThat(run.err()).contains("tip: " + advice);
        assertThat(Files.readString(out.resolve("report.html")))
                .contains(Character.toUpperCase(advice.charAt(0)) + advice.substring(1));
        assertThat(Run.of("compare", out, TinyRun.folder()).done().out()).contains("McNemar");
    }

    @Test
    void rejectsFolderWithFiles() throws IOException {
        Files.createDirectories(out);
        Files.writeString(out.resolve("thesis.tex"), "years of work", StandardCharsets.UTF_8);
        tiny.train(out).failed(ExitCode.USAGE, "--out", out);
        assertThat(TinyTraining.names(out)).containsExactly("thesis.tex");
    }

    @Test
    void existingRunNamesResumeCommand() throws IOException {
        tiny.train(TinyRun.folder(), "--epochs", "1").failed(ExitCode.USAGE, TinyRun.folder(), "finished run");
        Files.createDirectories(out);
        Files.copy(TinyRun.folder().resolve("config.yaml"), out.resolve("config.yaml"));
        Run run = tiny.train(out, "--epochs", "1");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("gramian train --resume " + out);
        Path config = TinyRun.folder().resolve("config.yaml");
        tiny.goOn(TinyRun.folder(), "--epochs", "3")
                .failed(ExitCode.USAGE, "--resume", "--epochs", "gramian train DIR --config " + config);
        tiny.goOn(root.resolve("nothing")).failed(ExitCode.USAGE, "gramian train DIR --out");
    }

    @Test
    void trainsEveryFoldAndReportsMean() throws IOException {
        Run run = tiny.train(out, "--epochs", "1", "--protocol", "kfold:2").done();
        assertThat(run.out())
                .contains("±")
                .contains(
                        out.resolve("fold-1").toString(), out.resolve("fold-2").toString());
        assertThat(TinyTraining.names(out))
                .containsExactlyInAnyOrder(
                        ".lock",
                        "audit.json",
                        "config.yaml",
                        "fold-1",
                        "fold-2",
                        "images.txt",
                        "report.html",
                        "summary.txt");
        for (String fold : Set.of("fold-1", "fold-2")) {
            assertThat(TinyTraining.names(out.resolve(fold)))
                    .isEqualTo(new java.util.TreeSet<>(TinyTraining.FOLD_FILES));
        }
        tiny.train(root.resolve("none"), "--protocol", "kfold:2", "--fold", "3")
                .failed(ExitCode.USAGE, "'3'", "1", "2");
        resumesSelectedFolds();
    }

    private void resumesSelectedFolds() throws IOException {
        Path second = root.resolve("second");
        String[] options = {"--epochs", "1", "--protocol", "kfold:2", "--fold", "2", "--time-budget", "0.001s"};
        assertThat(tiny.train(second, (Object[]) options).err()).contains("gramian train --resume");
        tiny.goOn(second).done();
        assertThat(second.resolve("fold-1")).doesNotExist();
        assertThat(model(second.resolve("fold-2"))).isEqualTo(model(out.resolve("fold-2")));
        tiny.goOn(second, "--fold", "1").done();
        assertThat(second.resolve("fold-1/model.safetensors")).isRegularFile();
    }

    @Test
    void otherCommandsReadItsModel() throws IOException {
        Path model = TinyRun.model();
        Path photos = TinyRun.training().images().root();
        assertThat(Run.of("show", model).done().out()).contains("filters", "paper", "stone", "wood", "holdout:0.2");
        assertThat(Run.of("predict", model, photos.resolve("stone/1.bmp"))
                        .done()
                        .out())
                .contains("stone");
        Path json = root.resolve("again.json");
        Run.of("evaluate", model, photos, "--device", "cpu", "--json", json).done();
        Evaluation first = EvaluationFile.read(TinyRun.folder().resolve("evaluation.json"));
        Evaluation again = EvaluationFile.read(json);
        assertThat(again.predictions().stream().map(ImagePrediction::name))
                .as("the test images of its own fold")
                .containsExactlyElementsOf(
                        first.predictions().stream().map(ImagePrediction::name).toList());
        assertThat(again.accuracy()).isEqualTo(first.accuracy());
    }

    @Test
    void jsonLogHasOneObjectPerLine() {
        Run run = tiny.train(out, "--epochs", "2", "--log-format", "json").done();
        assertThat(run.err().lines())
                .allSatisfy(line -> assertThat(line).startsWith("{\"time\":\"").endsWith("}"));
        assertThat(run.err().lines().filter(line -> line.contains("\"event\":\"epoch_done\"")))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("\"loss\":", "\"accuracy\":", "\"validation_error\":", "\"learning_rate\":"));
        assertThat(run.err()).contains("\"event\":\"evaluated\"", "\"low\":");
        Run failed = tiny.train(out, "--log-format", "json");
        assertThat(failed.code()).isEqualTo(ExitCode.USAGE);
        assertThat(failed.err()).startsWith("{\"time\":").contains("\"event\":\"error\"");
    }

    @Test
    void resumedRunKeepsRelativeImagesAndNoReport() throws IOException {
        Path typed =
                Path.of("").toAbsolutePath().relativize(tiny.images().root().toAbsolutePath());
        List<Object> line = new ArrayList<>(tiny.begin(out, "--epochs", "1", "--no-report"));
        line.set(1, typed);
        Run.of(line.toArray()).done();
        String audit = Files.readString(out.resolve("audit.json"));
        assertThat(audit).contains("\"" + typed + "\"");
        Files.delete(out.resolve("audit.json"));
        Run again = tiny.goOn(out).done();
        assertThat(out.resolve("audit.json")).hasContent(audit);
        assertThat(out.resolve("report.html")).doesNotExist();
        assertThat(again.err()).doesNotContain("report");
    }

    /** Another cache may hold features of other last bits. */
    @Test
    void resumesWithItsCacheUnlessAnotherIsGiven() throws IOException {
        Path cache = root.resolve("cache");
        List<Object> line = new ArrayList<>(tiny.begin(out, "--epochs", "1", "--time-budget", "0.001s"));
        line.remove("--no-cache");
        line.addAll(List.of("--cache-dir", Path.of("").toAbsolutePath().relativize(cache.toAbsolutePath())));
        assertThat(Run.of(line.toArray()).err()).contains("gramian train --resume");
        Path moved = root.resolve("moved");
        if (Files.exists(cache)) {
            Files.move(cache, moved);
        }
        Run other = tiny.goOn(out, "--cache-dir", moved, "--time-budget", "0.001s");
        assertThat(other.err()).contains("gramian train --resume");
        assertThat(cache).doesNotExist();
        tiny.goOn(out).done();
        assertThat(cache).isNotEmptyDirectory();
    }
}
