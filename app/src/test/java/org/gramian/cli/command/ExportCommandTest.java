package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ExportCommandTest {
    @TempDir
    private Path folder = Path.of("");

    private Path model = Path.of("");
    private Path out = Path.of("");
    private Path photos = Path.of("");

    @BeforeEach
    void prepare() throws IOException {
        model = TinyModel.write(folder.resolve("model.safetensors"), "paper:32");
        out = folder.resolve("model.onnx");
        photos = folder.resolve("photos");
        new ImageFolder(photos).add("paper/one.bmp", 1).add("stone/two.png", 2);
    }

    @Test
    void comparesOnSyntheticOrGivenImages() {
        Run run = Run.of("export", model, out).done();
        assertThat(run.out()).has(facts("17", "4", "score"));
        Run given = Run.of("export", model, out, "--images", photos, "--opset=15", "--threads=1")
                .done();
        assertThat(given.out()).has(facts("15", "2", "10"));
    }

    @Test
    void skipsTheComparison() {
        Run run = Run.of("export", model, out, "--no-check").done();
        assertThat(run.out()).has(facts("17")).doesNotContain("score");
        assertThat(out).exists();
        Run both = Run.of("export", model, out, "--no-check", "--images", photos);
        assertThat(both.code()).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void unreadableImageKeepsTheFile() throws IOException {
        Files.writeString(photos.resolve("stone/three.png"), "no image");
        Run run = Run.of("export", model, out, "--images", photos);
        run.failed(ExitCode.DATA, "three.png");
        assertThat(run.out()).has(facts("2"));
        assertThat(out).exists();
    }

    @Test
    void predictsLikeTheModel() {
        assertThat(Run.of("export", model, out, "--no-check").code()).isZero();
        List<JsonNode> expected = predict(model, "--device=cpu");
        for (List<JsonNode> found :
                List.of(predict(out), predict(model, "--engine=onnx"), predict(out, "--threads=1"))) {
            assertThat(found).hasSameSizeAs(expected);
            for (int i = 0; i < found.size(); i++) {
                assertThat(found.get(i).get("class")).isEqualTo(expected.get(i).get("class"));
                double difference = found.get(i).get("probability").asDouble()
                        - expected.get(i).get("probability").asDouble();
                assertThat(Math.abs(difference)).isLessThan(1e-4);
            }
        }
    }

    private List<JsonNode> predict(Path file, String... options) {
        Object[] all = new Object[4 + options.length];
        all[0] = "predict";
        all[1] = "--format=jsonl";
        System.arraycopy(options, 0, all, 2, options.length);
        all[all.length - 2] = file;
        all[all.length - 1] = photos;
        Run run = Run.of(all).done();
        return run.out().lines().map(JsonMapper.shared()::readTree).toList();
    }

    @Test
    void evaluatesAndEmbedsOnnxFiles() {
        assertThat(Run.of("export", model, out, "--no-check").code()).isZero();
        Run evaluated = Run.of("evaluate", out, photos);
        Run expected = Run.of("evaluate", "--device=cpu", model, photos);
        assertThat(evaluated.code()).as(evaluated.err()).isEqualTo(expected.code());
        assertThat(evaluated.out().lines().limit(3).toList())
                .isEqualTo(expected.out().lines().limit(3).toList());
        Run embedded = Run.of("embed", out, photos, folder.resolve("rows.csv")).done();
        assertThat(embedded.out()).has(facts("2", "6"));
        Run.of("evaluate", out, photos, "--crops=center:48").failed(ExitCode.USAGE, "32");
    }

    @Test
    void rejectsInvalidArguments() {
        assertThat(Run.of("export", model, folder.resolve("model.bin")).err()).has(facts(".onnx"));
        assertThat(Run.of("export", model, out, "--opset=5").err()).has(facts("13", "21", "5"));
        assertThat(Run.of("export", model, folder.resolve("none/model.onnx")).code())
                .isEqualTo(ExitCode.USAGE);
        assertThat(Run.of("export", model).err()).has(facts(".onnx", "OUT"));
        assertThat(Run.of("export", model, out, "--out", out).err()).has(facts("OUT", "--out"));
        assertThat(Run.of("export", model, "--out", out, "--no-check").code()).isZero();
        assertThat(Run.of("export", out, folder.resolve("b.onnx")).err()).has(facts("ONNX"));
        Run.of("predict", "--engine=libtorch", out, photos).failed(ExitCode.USAGE, "libtorch", "ONNX");
    }

    @Test
    void rejectsPoolingsWithoutOnnxOperators() throws IOException {
        Path spectral = TinyModel.write(folder.resolve("log.safetensors"), "center:32", "conv:4/covariance/log/triu");
        Run.of("export", spectral, out).failed(ExitCode.MODEL, "ONNX", "log", "eigenvalues", "isqrt:5");
        assertThat(out).doesNotExist();
    }
}
