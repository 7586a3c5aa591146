package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.TinyRun;
import org.gramian.cli.common.ExitCode;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(TinyRun.class)
class ExplainCommandTest {
    @TempDir
    private Path folder = Path.of("");

    private Path model = Path.of("");
    private Path image = Path.of("");
    private Path out = Path.of("");

    @BeforeEach
    void write() throws IOException {
        model = TinyModel.write(folder.resolve("model.safetensors"), "paper:32");
        image = folder.resolve("waves.png");
        out = folder.resolve("why.png");
        BufferedImage buffered = new BufferedImage(60, 40, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 2400; i++) {
            int light = (int) (128 + 100 * Math.sin(i % 60 * 0.7));
            buffered.setRGB(i % 60, i / 60, light * 0x10101);
        }
        ImageIO.write(buffered, "png", image.toFile());
    }

    @Test
    void jsonAgreesWithThePrediction() throws IOException {
        Path json = folder.resolve("why.json");
        Run run = Run.of("explain", model, image, out, "--pairs", 4, "--json", json, "--check")
                .done();
        assertThat(run.err()).has(facts(out));
        assertThat(run.out()).containsPattern("(?m)^covered +100 %").containsPattern("(?m)^check ");
        assertThat(ImageIO.read(out.toFile()).getWidth()).isGreaterThan(400);
        JsonNode why = JsonMapper.builder().build().readTree(Files.readString(json));
        assertThat(why.get("answer").asBoolean()).isTrue();
        assertThat(why.get("pairs"))
                .hasSizeBetween(1, 4)
                .allMatch(pair -> pair.get("contribution").asDouble() != 0);
        JsonNode heat = why.get("heat");
        assertThat(heat.get("strengths"))
                .hasSize(heat.get("width").asInt() * heat.get("height").asInt());
        Run predicted = Run.of("predict", model, image, "--format", "jsonl");
        JsonNode answer = JsonMapper.builder().build().readTree(predicted.out());
        assertThat(why.get("class").asString()).isEqualTo(answer.get("class").asString());
        assertThat(why.get("probability").asDouble())
                .isCloseTo(answer.get("probability").asDouble(), within(1e-4));
    }

    @Test
    void showsPatchesOfTrainingImages() throws IOException {
        Path json = folder.resolve("why.json");
        Path run = TinyRun.folder();
        Run.of("explain", run, image, folder.resolve("shown.png"), "--json", json)
                .done();
        JsonNode pairs =
                JsonMapper.builder().build().readTree(Files.readString(json)).get("pairs");
        assertThat(pairs).isNotEmpty().allMatch(pair -> pair.get("patches").size() == 4);
        refused(ExitCode.USAGE, facts("--images", folder), run, image, out, "--images", folder);
        refused(ExitCode.USAGE, facts("--images", "gallery"), model, image, out, "--images", run);
    }

    @Test
    void explainsEveryClass() {
        for (String name : TinyModel.CLASSES) {
            Run run = Run.of("explain", model, image, out, "--class", name).done();
            assertThat(run.out()).startsWith("class").has(facts(name));
        }
    }

    @Test
    void rejectsInvalidArguments() throws IOException {
        refused(ExitCode.USAGE, facts("'ston'", "'stone'"), model, image, out, "--class", "ston");
        refused(ExitCode.USAGE, facts("--pairs", "0", "100", "101"), model, image, out, "--pairs", 101);
        refused(ExitCode.USAGE, facts(image), model, image, image);
        refused(ExitCode.USAGE, facts(out), model, image, out, "--json", out);
        refused(ExitCode.USAGE, facts(folder.resolve("none")), model, image, folder.resolve("none/why.png"));
        refused(ExitCode.USAGE, facts(".png", folder.resolve("why.jpg")), model, image, folder.resolve("why.jpg"));
        refused(ExitCode.MODEL, facts("ONNX"), folder.resolve("model.onnx"), image, out);
        refused(ExitCode.DATA, facts("model.safetensors"), model, model, out);
        refused(ExitCode.MODEL, facts("waves.png"), image, image, out);
    }

    private void refused(int code, Facts words, Object... arguments) throws IOException {
        Object[] all = Stream.concat(Stream.of("explain"), Stream.of(arguments)).toArray();
        Run run = Run.of(all);
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).has(words).startsWith("gramian explain: ");
        assertThat(out).doesNotExist();
        assertThat(Files.size(image)).isPositive();
    }
}
