package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;

/** Every kind of bad input to {@code gramian train} is one clear sentence with what to try, and the exit code of its kind. */
final class TrainBadInputTest extends TrainFixture {
    private static final byte[] RUBBISH = "no image at all".getBytes(StandardCharsets.UTF_8);

    private void assertRefused(int code, Run run, Facts words) {
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).has(words).doesNotContain("Exception").doesNotContain("\tat ");
        assertThat(run.out()).isEmpty();
        assertThat(out).doesNotExist();
    }

    private void remove(String name) throws IOException {
        Files.delete(tiny.images().file(name));
    }

    @Test
    void rejectsLinkToNothingAsOutput() throws IOException {
        Files.createSymbolicLink(out, root.resolve("nothing"));
        tiny.train(out).refused(ExitCode.USAGE, out, "link to nothing");
    }

    @Test
    void rejectsEmptyClassFolder() throws IOException {
        Files.createDirectories(tiny.images().root().resolve("glass"));
        Run run = tiny.train(out);
        assertRefused(ExitCode.DATA, run, facts("1", "'glass'"));
        assertThat(run.err()).hasLineCount(1);
    }

    @Test
    void rejectsOptionsOfClassifierForSingleClass() throws IOException {
        TinyTraining one = new TinyTraining(root.resolve("one"));
        for (int i = 1; i <= 4; i++) {
            one.images().addSmall("paper/" + i + ".bmp", i);
        }
        assertRefused(ExitCode.USAGE, one.train(out), facts("class", "--pooling", "--set"));
    }

    @Test
    void rejectsClassOfUnreadableFiles() throws IOException {
        for (int i = 1; i <= 6; i++) {
            remove("wood/" + i + ".bmp");
            tiny.images().add("wood/" + i + ".jpg", RUBBISH);
        }
        assertRefused(ExitCode.DATA, tiny.train(out), facts("'wood'", "gramian audit"));
    }

    @Test
    void skipsUnreadableFiles() throws IOException {
        tiny.images().add("wood/7.jpg", RUBBISH).add("paper/8.png", RUBBISH);
        Run run = tiny.train(out, "--epochs", "1");
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.DATA);
        assertThat(run.out()).has(facts("2", "20", "3"));
        assertThat(run.err()).has(facts("wood/7.jpg", "paper/8.png")).doesNotContain("Exception");
        assertThat(TinyTraining.names(out)).containsAll(TinyTraining.FOLD_FILES);
        assertThat(out.resolve("predictions.csv"))
                .content()
                .doesNotContain("7.jpg")
                .doesNotContain("8.png");
    }

    @Test
    void missingWeights() {
        assertRefused(
                ExitCode.MODEL, tiny.train(out, "--backbone", "squeezenet"), facts("squeezenet", "gramian weights"));
    }

    @Test
    void damagedWeights() throws IOException {
        Path weights = root.resolve("weights/squeezenet.safetensors");
        Files.write(weights, RUBBISH);
        List<String> chosen = List.of("--backbone", "squeezenet", "--weights", weights.toString());
        assertRefused(ExitCode.MODEL, tiny.train(out, chosen.toArray()), facts("squeezenet.safetensors"));
    }
}
