package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.EvaluationFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.train.loop.StageResult;
import org.junit.jupiter.api.Test;

/** {@code gramian train} from the command line to the run's folder, and what the other commands make of it. */
final class TrainCommandTest extends TrainFixture {
    private static final int SCREEN = 40;
    private static final int BUDGET = Boolean.getBoolean("gramian.full") ? 15 : 7;

    /** Backbone where no weights are installed. */
    private static final String WITHOUT_INSTALLED = BundledWeights.present() ? BundledWeights.NAME : "filters";

    private static byte[] model(Path folder) throws IOException {
        return Files.readAllBytes(folder.resolve("model.safetensors"));
    }

    @Test
    void imagesAloneAreEnough() throws IOException {
        Run run = done(Run.of(
                "train", tiny.images().root(), "--weights-dir", root.resolve("weights"), "--no-cache", "--out", out));
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
    void dryRunShowsEveryKeyAndWritesNothing() throws IOException {
        Run run = done(tiny.train(out, "--dry-run", "--epochs", "7"));
        for (String name : ConfigKey.names()) {
            assertThat(run.out()).contains(name.substring(name.indexOf('.') + 1));
        }
        assertThat(run.out().lines().filter(line -> line.contains("epochs") && line.contains("--epochs")))
                .hasSize(1);
        assertThat(run.out()).has(facts("--set", "--pooling", "default", "weights"));
        assertThat(TinyTraining.names(root)).containsExactly("pictures", "weights");
    }

    @Test
    void configurationRepeatsRunToTheByte() throws IOException {
        done(tiny.train(out, "--epochs", "3", "--seed", "5"));
        Path again = root.resolve("again");
        done(Run.of(
                "train",
                tiny.images().root(),
                "--config",
                out.resolve("config.yaml"),
                "--weights-dir",
                root.resolve("weights"),
                "--no-cache",
                "--decode-threads",
                "1",
                "--out",
                again));
        assertThat(model(again)).isEqualTo(model(out));
        Path other = root.resolve("other");
        done(tiny.train(other, "--epochs", "3", "--seed", "6"));
        assertThat(model(other)).isNotEqualTo(model(out));
    }

    @Test
    void resumedRunEqualsUninterruptedRun() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "3", "--time-budget", "0.001s"));
        assertThat(run.err()).contains("gramian train --resume " + out);
        assertThat(TinyTraining.names(out)).contains("model.safetensors", "summary.txt");
        done(tiny.goOn(out));
        Path unbroken = root.resolve("unbroken");
        done(tiny.train(unbroken, "--epochs", "3"));
        assertThat(model(out)).isEqualTo(model(unbroken));
        assertThat(TinyTraining.names(out)).isEqualTo(TinyTraining.names(unbroken));
        assertThat(out.resolve("history.csv")).hasSameBinaryContentAs(unbroken.resolve("history.csv"));
    }

    /** The stage would take minutes: the budget ends it, and test and report still fit in. */
    @Test
    void timeBudgetCoversTestAndReport() throws IOException {
        long start = System.nanoTime();
        Run run = done(tiny.train(out, "--epochs", "100000", "--schedule", "constant", "--time-budget", BUDGET + "s"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(BUDGET + 15));
        assertThat(TinyTraining.names(out)).contains("model.safetensors", "report.html", "evaluation.json");
    }

    @Test
    void runWithoutWeightsRecommendsSome() throws IOException {
        assertThat(done(tiny.train(out, "--epochs", "1")).err())
                .contains("this run used no pretrained weights; "
                        + (BundledWeights.present()
                                ? "those of gramian-s are installed: train with --backbone gramian-s"
                                : "get some with: gramian weights get efficientnet_v2_s (83 MiB)"));
    }

    @Test
    void resumedFinishedRunPrintsItsResultAgain() throws IOException {
        Run first = done(tiny.train(out, "--epochs", "2"));
        byte[] model = model(out);
        Run again = done(tiny.goOn(out));
        assertThat(again.out()).isEqualTo(first.out());
        assertThat(again.err()).has(facts(out)).doesNotContain("epoch 1/");
        assertThat(first.err()).contains("epoch 1/");
        assertThat(model(out)).isEqualTo(model);
    }

    @Test
    void improvingStageAdvisesMoreEpochs() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "3", "--pooling", "average"));
        StageResult first = StageResult.read(out).getFirst();
        assertThat(first.epochs()).isEqualTo(3);
        String advice = first.advice().orElseThrow();
        assertThat(advice).contains("in the last 2 of 3 epochs", "--epochs 6");
        assertThat(run.err()).contains("tip: " + advice);
        assertThat(Files.readString(out.resolve("report.html")))
                .contains(Character.toUpperCase(advice.charAt(0)) + advice.substring(1));
    }

    @Test
    void rejectsFolderWithFiles() throws IOException {
        Files.createDirectories(out);
        Files.writeString(out.resolve("thesis.tex"), "years of work", StandardCharsets.UTF_8);
        Run run = tiny.train(out);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts("--out", out));
        assertThat(TinyTraining.names(out)).containsExactly("thesis.tex");
    }

    @Test
    void existingRunNamesResumeCommand() throws IOException {
        done(tiny.train(out, "--epochs", "1"));
        Run run = tiny.train(out, "--epochs", "1");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains("gramian train --resume " + out);
        Run changed = tiny.goOn(out, "--epochs", "2");
        assertThat(changed.code()).isEqualTo(ExitCode.USAGE);
        assertThat(changed.err())
                .has(facts("--resume", "--epochs"))
                .contains("gramian train DIR --config " + out.resolve("config.yaml"));
        Run nothing = tiny.goOn(root.resolve("nothing"));
        assertThat(nothing.code()).isEqualTo(ExitCode.USAGE);
        assertThat(nothing.err()).has(facts("gramian train DIR --out"));
    }

    @Test
    void trainsEveryFoldAndReportsMean() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "2", "--protocol", "kfold:2"));
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
        Path second = root.resolve("second");
        done(tiny.train(second, "--epochs", "2", "--protocol", "kfold:2", "--fold", "2"));
        assertThat(second.resolve("fold-1")).doesNotExist();
        assertThat(model(second.resolve("fold-2"))).isEqualTo(model(out.resolve("fold-2")));
        Run none = tiny.train(root.resolve("none"), "--protocol", "kfold:2", "--fold", "3");
        assertThat(none.code()).isEqualTo(ExitCode.USAGE);
        assertThat(none.err()).has(facts("'3'", "1", "2"));
    }

    @Test
    void otherCommandsReadItsModel() throws IOException {
        done(tiny.train(out, "--epochs", "2"));
        Path other = root.resolve("other");
        done(tiny.train(other, "--epochs", "2", "--pooling", "average"));
        Path model = out.resolve("model.safetensors");
        Path photos = tiny.images().root();

        assertThat(done(Run.of("show", model)).out()).contains("filters", "paper", "stone", "wood", "holdout:0.2");
        assertThat(done(Run.of("predict", model, photos.resolve("stone/1.bmp"))).out())
                .contains("stone");
        Path json = root.resolve("again.json");
        done(Run.of("evaluate", model, photos, "--device", "cpu", "--json", json));
        assertThat(EvaluationFile.read(json).predictions().stream().map(one -> one.name()))
                .as("the test images of its own fold")
                .containsExactlyElementsOf(EvaluationFile.read(out.resolve("evaluation.json")).predictions().stream()
                        .map(one -> one.name())
                        .toList());
        assertThat(EvaluationFile.read(json).accuracy())
                .isEqualTo(EvaluationFile.read(out.resolve("evaluation.json")).accuracy());
        assertThat(done(Run.of("compare", out, other)).out()).contains("McNemar");
    }

    @Test
    void logHasOneLinePerEpoch() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "3"));
        assertThat(run.err().lines().filter(line -> line.matches("epoch \\d/3  loss \\d.*  acc .*%  .*lr .*")))
                .hasSize(3);
        assertThat(run.err())
                .containsPattern("test accuracy \\d+\\.\\d % \\(95 % CI .*\\), frozen backbone")
                .doesNotContain("stage 1", "about 1 s");
        assertThat(run.err().lines()).hasSizeLessThan(20);
    }

    @Test
    void quietPrintsResultsOnly() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "2", "--quiet"));
        assertThat(run.err()).doesNotContain("epoch", "backbone", "report");
        assertThat(run.out()).contains("accuracy", "gramian predict");
    }

    @Test
    void jsonLogHasOneObjectPerLine() throws IOException {
        Run run = done(tiny.train(out, "--epochs", "2", "--log-format", "json"));
        assertThat(run.err().lines())
                .allSatisfy(line -> assertThat(line).startsWith("{\"time\":\"").endsWith("}"));
        assertThat(run.err().lines().filter(line -> line.contains("\"event\":\"epoch\"")))
                .hasSize(2)
                .allSatisfy(line ->
                        assertThat(line).contains("\"epochs\":2", "\"loss\":", "\"acc\":", "\"val_acc\":", "\"lr\":"));
        assertThat(run.err()).contains("\"event\":\"test\"", "\"ci_low\":");
        Run failed = tiny.train(out, "--log-format", "json");
        assertThat(failed.code()).isEqualTo(ExitCode.USAGE);
        assertThat(failed.err()).startsWith("{\"time\":").contains("\"event\":\"error\"");
    }
}
