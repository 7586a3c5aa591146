package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.model.ModelFile;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.junit.jupiter.api.Test;

/** Two networks joined in one descriptor, through the commands. */
final class JointBackboneTrainingTest extends TrainFixture {
    private static final String JOINT = "squeezenet+mobilenet_v3_large";

    /** Installs random weights. */
    private void install(String name) throws IOException {
        Backbone whole = Backbone.of(name).cutAt("logits");
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        try (ParameterSet parameters =
                ParameterSet.initialize(whole.parameters(), new SplittableRandom(1), DType.F32, Device.CPU)) {
            for (Parameter parameter : parameters.all()) {
                tensors.put(parameter.name(), StoredTensor.of(parameter.value()));
            }
            Safetensors.write(
                    root.resolve("weights").resolve(name + ".safetensors"),
                    tensors,
                    Map.of("preprocessing", whole.preprocessing().text()));
        }
    }

    @Test
    void trainsUsesAndExportsTwoNetworks() throws IOException {
        install("squeezenet");
        Object[] options = {
            "--backbone",
            JOINT,
            "--layer",
            "squeezenet:fire2+mobilenet_v3_large:features.2",
            "--pooling",
            "[layer:squeezenet:fire2/average+conv:4/covariance/isqrt:3/triu]",
            "--epochs",
            "1",
            "--fine-tune",
            "1"
        };
        Run missing = tiny.train(out, options);
        assertThat(missing.err()).has(facts("no weights 'mobilenet_v3_large'", "weights get"));
        assertThat(missing.code()).isEqualTo(ExitCode.MODEL);
        install("mobilenet_v3_large");
        done(tiny.train(out, options));
        Path model = out.resolve("model.safetensors");
        assertThat(ModelFile.header(model).backbone())
                .hasToString(JOINT + ":squeezenet:fire2+mobilenet_v3_large:features.2");
        Path image = tiny.images().root().resolve("wood").resolve("1.bmp");
        done(Run.of("predict", model, image, "--device", "cpu"));
        done(Run.of("explain", model, image, root.resolve("explained.png"), "--device", "cpu"));
        Path exported = root.resolve("exported.onnx");
        assertThat(done(Run.of("export", model, exported)).out()).has(facts("ONNX Runtime"));
        done(Run.of("predict", exported, image));
        assertThat(Files.exists(root.resolve("explained.png"))).isTrue();
    }

    @Test
    void commandsListItsLayers() {
        String[] lines = done(Run.of("backbones", JOINT)).out().split("\n", -1);
        assertThat(Stream.of(lines).filter(line -> line.endsWith("(default)")).map(line -> line.split(" ", 2)[0]))
                .containsExactly("squeezenet:fire9", "mobilenet_v3_large:features.15");
        assertThat(done(Run.of("methods", "average", "--backbone", JOINT)).out())
                .has(facts("channels"));
        Run.of("backbones", "squeezenet+squeezenet").failed(ExitCode.USAGE, "squeezenet+squeezenet");
    }
}
