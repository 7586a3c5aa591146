package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code gramian train} where a run meets itself again, or images and poolings that ask for more. */
final class TrainAgainTest extends TrainFixture {
    @Test
    void recordsFidelity() throws IOException {
        done(tiny.train(out, "--fidelity", "paper", "--epochs", "1"));
        assertThat(Files.readString(out.resolve("config.yaml"))).containsPattern("(?m)^fidelity: paper");
        assertThat(Run.of("show", "--all", out).out()).containsPattern("fidelity +paper");
    }

    @Test
    void resumesSelectedFolds() {
        Run begun = tiny.train(out, "--epochs", "2", "--protocol", "kfold:2", "--fold", "2", "--time-budget", "0.001s");
        assertThat(begun.err()).contains("gramian train --resume");
        done(tiny.goOn(out));
        assertThat(out.resolve("fold-1")).doesNotExist();
        assertThat(out.resolve("fold-2/model.safetensors")).isRegularFile();
        done(tiny.goOn(out, "--fold", "1"));
        assertThat(out.resolve("fold-1/model.safetensors")).isRegularFile();
    }

    @Test
    void resumedRunKeepsRelativeImagesAndNoReport() throws IOException {
        Path typed =
                Path.of("").toAbsolutePath().relativize(tiny.images().root().toAbsolutePath());
        List<Object> line = new ArrayList<>(tiny.begin(out, "--epochs", "1", "--no-report"));
        line.set(1, typed);
        done(Run.of(line.toArray()));
        String audit = Files.readString(out.resolve("audit.json"));
        assertThat(audit).contains("\"" + typed + "\"");
        Files.delete(out.resolve("audit.json"));
        Run again = done(tiny.goOn(out));
        assertThat(out.resolve("audit.json")).hasContent(audit);
        assertThat(out.resolve("report.html")).doesNotExist();
        assertThat(again.err()).doesNotContain("report");
    }

    /** A killed run leaves its features in its folder; only a resumed run that uses them removes them. */
    @Test
    void resumesWithoutCache() throws IOException {
        Run begun = tiny.train(out, "--epochs", "1", "--time-budget", "0.001s");
        assertThat(begun.err()).contains("gramian train --resume");
        Path features = Files.createDirectories(out.resolve(".features"));
        done(tiny.goOn(out));
        assertThat(features).doesNotExist();
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
        done(tiny.goOn(out));
        assertThat(cache).isNotEmptyDirectory();
    }

    @Test
    void rejectsFolderInUse() throws IOException {
        done(tiny.train(out, "--epochs", "1"));
        try (FileChannel channel = FileChannel.open(out.resolve(".lock"), StandardOpenOption.WRITE);
                var _ = channel.lock()) {
            Run second = tiny.goOn(out);
            assertThat(second.code()).isEqualTo(ExitCode.USAGE);
            assertThat(second.err()).has(facts(out));
        }
    }

    @Test
    void skipsImageTooSmallForCrops() throws IOException {
        Path line = tiny.images().root().resolve("stone/line.png");
        ImageIO.write(new BufferedImage(100, 2, BufferedImage.TYPE_INT_RGB), "png", line.toFile());
        Run run = tiny.train(out, "--epochs", "1");
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.DATA);
        assertThat(run.err()).has(facts("stone/line.png"));
        assertThat(out.resolve("model.safetensors")).isRegularFile();
        Files.delete(line);
        Run changed = tiny.goOn(out);
        assertThat(changed.code()).as(changed.err()).isEqualTo(ExitCode.USAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pca:4/average/l2", "rbf:sigma=estimate/triu/l2"})
    void trainsFittedPooling(String pooling) {
        done(tiny.train(out, "--epochs", "1", "--pooling", pooling));
        assertThat(out.resolve("model.safetensors")).isRegularFile();
    }
}
