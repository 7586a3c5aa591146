package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;

/** {@code gramian extend}. */
final class ExtendCommandTest extends TrainFixture {
    private Path train(String... more) {
        List<String> line =
                new ArrayList<>(List.of("train", tiny.images().root().toString(), "--out", out.toString()));
        line.addAll(List.of("--weights-dir", root.resolve("weights").toString(), "--device", "cpu"));
        line.addAll(List.of("--crops", "center:32", "--backbone", "filters", "--pooling", "average"));
        line.addAll(List.of(more));
        Run.of(line.toArray()).done();
        return out;
    }

    private Path solved() {
        return train("--classifier", "lda", "--cache-dir", root.resolve("cache").toString());
    }

    /** Its name ends with a space. */
    private Path newClass() throws IOException {
        ImageFolder folder = new ImageFolder(root.resolve("more"));
        for (int i = 1; i <= 6; i++) {
            folder.addSmall("glass / " + i + ".bmp", 77L * i);
        }
        return folder.root();
    }

    private Run extend(Path run, Path images) {
        return Run.of(
                "extend",
                run,
                images,
                "--out",
                root.resolve("extended"),
                "--weights-dir",
                root.resolve("weights"),
                "--device",
                "cpu");
    }

    @Test
    void newClassJoinsRunInFolderOfKilledCommand() throws IOException {
        Path run = solved();
        Path extended = Files.createDirectories(root.resolve("extended"));
        for (String name : List.of("extended.json", "images.csv", "labels.csv", ".gramian-1.partial")) {
            Files.writeString(extended.resolve(name), "old");
        }
        assertThat(extend(run, newClass()).done().out()).contains("in 4 classes");
        assertThat(TinyTraining.names(extended))
                .contains("images.csv", "report.html", "review.csv", "review.html", "summary.txt")
                .doesNotContain("labels.csv", ".gramian-1.partial");
        assertThat(Run.of("show", extended).done().out()).contains("glass ").contains("extended.fingerprint");
        String before = Files.readString(extended.resolve("predictions.csv"));
        Files.delete(extended.resolve("model.safetensors"));
        Run.of("train", "--resume", extended, "--weights-dir", root.resolve("weights"), "--device", "cpu")
                .done();
        assertThat(extended.resolve("predictions.csv")).hasContent(before);
    }

    @Test
    void rejectsLearnedHeadBeforeWriting() throws IOException {
        Path run = train("--classifier", "softmax", "--epochs", "1", "--set", "stage1.refit=none");
        extend(run, newClass()).refused(ExitCode.USAGE, run, "trained by epochs", "train anew");
        assertThat(root.resolve("extended")).doesNotExist();
    }

    @Test
    void keepsFilesOfOthers() throws IOException {
        Path run = solved();
        Path extended = Files.createDirectories(root.resolve("extended"));
        for (List<String> names : List.of(List.of("images.csv"), List.of("extended.json", "notes.txt"))) {
            for (String name : names) {
                Files.writeString(extended.resolve(name), "mine");
            }
            extend(run, newClass()).refused(ExitCode.USAGE, extended, "choose another one");
            assertThat(TinyTraining.names(extended)).containsAll(names);
        }
        Run.of("extend", run, newClass(), "--out", run).refused(ExitCode.USAGE, run, "finished run");
        Run.of("train", tiny.images().root(), "--out", run).refused(ExitCode.USAGE, run, "finished run");
    }

    @Test
    void rejectsRunWithoutCache() throws IOException {
        Path run = train("--classifier", "lda", "--no-cache");
        extend(run, newClass()).refused(ExitCode.USAGE, "--no-cache");
    }

    @Test
    void rejectsFolderThatIsNoRun() throws IOException {
        extend(root, newClass()).refused(ExitCode.USAGE, root, "config.yaml");
    }
}
