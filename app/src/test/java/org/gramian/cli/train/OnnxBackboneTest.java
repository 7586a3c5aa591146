package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Stream;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network of another program, see {@code scripts/golden/onnx_backbone.py}, through all commands. */
final class OnnxBackboneTest extends TrainFixture {
    private Path network = Path.of("");

    @BeforeEach
    void copyNetwork() throws IOException {
        network = Files.copy(TinyTraining.NETWORK, root.resolve("small-backbone.onnx"));
    }

    private Run weights(Object... arguments) {
        return Run.of(Stream.concat(
                        Stream.of("weights"),
                        Stream.concat(Stream.of(arguments), Stream.of("--weights-dir", root.resolve("weights"))))
                .toArray());
    }

    /** Trains on frozen features, fine-tunes, and uses the model without any other file. */
    @Test
    void modelFileIsSelfContained() throws IOException {
        Run trained = tiny.train(
                        out, "--backbone", network, "--epochs", "2", "--fine-tune", "1", "--pooling", "covariance/triu")
                .done();
        assertThat(trained.err())
                .has(facts("imagenet", "--input", "small-backbone-"))
                .doesNotContain("Exception");
        Path model = Files.move(out.resolve("model.safetensors"), root.resolve("model.safetensors"));
        assertThat(root.resolve("weights")
                        .resolve(ModelFile.header(model).backbone().name() + ".safetensors"))
                .doesNotExist();
        Files.delete(network);
        ModelHeader header = ModelFile.header(model);
        assertThat(header.backbone().name()).startsWith("small-backbone-");
        assertThat(header.backbone().layer()).isEqualTo("relu_1");
        assertThat(header.backbone().definition()).isPresent();
        assertThat(header.card().preprocessing()).isEqualTo(Preprocessing.TORCHVISION);
        assertThat(header.card().origin())
                .containsEntry("config.network.backbone", header.backbone().name());
        Path image = tiny.images().root().resolve("wood").resolve("1.bmp");
        assertThat(Run.of("predict", model, image, "--device", "cpu").done().out())
                .contains("1.bmp");
        Run.of("explain", model, image, root.resolve("explained.png"), "--device", "cpu")
                .done();
        Run.of("embed", model, image, root.resolve("embedded.csv"), "--device", "cpu")
                .done();
        assertThat(Run.of("show", model).done().out())
                .has(facts(header.backbone().name(), "relu_1"));
        Run.of("evaluate", model, tiny.images().root(), "--device", "cpu").done();
        Path exported = root.resolve("exported.onnx");
        assertThat(Run.of("export", model, exported).done().out()).has(facts("ONNX Runtime", "probabilities"));
        assertThat(Run.of("predict", exported, image).done().out()).contains("1.bmp");
    }

    @Test
    void trainsInstalledNetworkByName() throws IOException {
        assertThat(weights("import", "mine", network, "--input", "clip").done().out())
                .contains(root.resolve("weights").resolve("mine.safetensors").toString());
        assertThat(weights("list").done().out()).containsPattern("mine +installed .*small-backbone.onnx");
        assertThat(weights("verify", "mine").done().out()).contains("ok");
        tiny.train(out, "--backbone", "mine", "--layer", "block.relu_1+relu_1", "--epochs", "2")
                .done();
        Path again = root.resolve("again");
        train("--config", out.resolve("config.yaml"), "--out", again).done();
        assertThat(again.resolve("model.safetensors")).hasSameBinaryContentAs(out.resolve("model.safetensors"));
        ModelHeader header = ModelFile.header(out.resolve("model.safetensors"));
        assertThat(header.backbone()).hasToString("mine:block.relu_1+relu_1");
        assertThat(header.card().preprocessing().text()).startsWith("RGB mean=122.770938,");
    }

    @ParameterizedTest
    @CsvSource({
        "imagenet, 'RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375'",
        "'mean=0.485,0.456,0.406,std=0.229,0.224,0.225', 'RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375'",
        "raw, 'RGB mean=0,0,0 std=1,1,1'",
        "'BGR mean=104,117,123 std=1', 'BGR mean=104,117,123 std=1,1,1'",
        "'mean=0,std=1', 'RGB mean=0,0,0 std=255,255,255'"
    })
    void keepsPreprocessing(String input, String preprocessing) throws IOException {
        weights("import", "mine", network, "--input", input).done();
        assertThat(Run.of("backbones", "mine", "--weights-dir", root.resolve("weights"))
                        .done()
                        .out())
                .containsPattern("images +" + preprocessing.substring(0, 3));
        Path file = root.resolve("weights").resolve("mine.safetensors");
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).contains(preprocessing);
    }

    @Test
    void rejectsWrongInputs() throws IOException {
        weights("import", network).failed(ExitCode.USAGE, "FILE");
        weights("import", "Mine!", network).failed(ExitCode.USAGE, "Mine!", "lower-case");
        weights("import", "vgg16", network).failed(ExitCode.MODEL, "vgg16", "32", "5 convolutions");
        weights("import", "mine", network, "--input", "grey").failed(ExitCode.USAGE, "--input", "grey", "clip");
        Path text = Files.writeString(root.resolve("text.onnx"), "hello, this is not a network");
        weights("import", "mine", text).failed(ExitCode.MODEL, text);
        weights("import", "mine", root.resolve("absent.onnx")).failed(ExitCode.MODEL, "absent.onnx");
        Path cut = Files.write(root.resolve("cut.onnx"), Arrays.copyOf(Files.readAllBytes(network), 3000));
        weights("import", "mine", cut).failed(ExitCode.MODEL, cut);
        // two Relu nodes
        byte[] relu = Base64.getDecoder()
                .decode("CAg6ZQoMCgF4EgF0IgRSZWx1CgwKAXQSAXkiBFJlbHUSB2dyYW1pYW5aHgoBeBIXChUIARIRCg"
                        + "MSAW4KAggDCgIIIAoCCCAaAGIeCgF5EhcKFQgBEhEKAxIBbgoCCAMKAgggCgIIIBoAQgIQDQ==");
        Path weightless = Files.write(root.resolve("relu.onnx"), relu);
        weights("import", "mine", weightless).failed(ExitCode.MODEL, weightless, "without weights");
        assertThat(root.resolve("weights")).isEmptyDirectory();
        tiny.train(out, "--backbone", network, "--layer", "block.relu_2")
                .failed(ExitCode.USAGE, "block.relu_2", "did you mean 'block.relu_1'");
        tiny.train(out, "--backbone", "minee").failed(ExitCode.USAGE, "unknown backbone 'minee'");
        tiny.train(out, "--backbone", root.resolve("absent.onnx")).failed(ExitCode.MODEL, "absent.onnx");
        tiny.train(out, "--backbone", "filters", "--input", "clip").failed(ExitCode.USAGE, "--input", "filters");
    }

    private Run train(Object... options) {
        Stream<Object> first = Stream.concat(Stream.of("train", tiny.images().root()), Stream.of(options));
        return Run.of(Stream.concat(first, tiny.context().stream()).toArray());
    }
}
