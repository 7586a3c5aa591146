package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.UUID;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.DType;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code --weights} and {@code --weights-dir} mean, through {@code gramian features}. */
class BackboneOptionsTest {
    @TempDir
    private Path folder = Path.of("");

    private Path photos = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        photos = folder.resolve("photos");
        new ImageFolder(photos).add("stone/a.bmp", 1).add("wood/b.bmp", 2);
    }

    private Run features(String weights) {
        return Run.of(
                "features",
                "--backbone=squeezenet",
                "--layer=conv1",
                "--weights=" + weights,
                "--weights-dir=" + folder.resolve("store"),
                "--crops=center:32",
                "--device=cpu",
                "--no-cache",
                photos,
                folder.resolve("out.safetensors"));
    }

    /** All weights of SqueezeNet, zero, and nothing said of images. */
    private Path squeezeNet(String name) throws IOException {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (ParameterSpec spec : Backbone.of("squeezenet", "logits").parameters()) {
            byte[] zeros = new byte[Math.toIntExact(spec.shape().elements()) * Short.BYTES];
            tensors.put(spec.name(), new StoredTensor(DType.F16, spec.shape(), MemorySegment.ofArray(zeros)));
        }
        Path path = Files.createDirectories(folder.resolve("store")).resolve(name);
        Safetensors.write(path, tensors, Map.of());
        return path;
    }

    @Test
    void findsWeightsInTheFolder() throws IOException {
        squeezeNet("squeezenet-mine.safetensors");
        for (String weights : List.of("squeezenet-mine", squeezeNet("plain").toString())) {
            Run run = features(weights).done();
            assertThat(run.err()).contains("BGR mean=104,117,123");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mine.pth", "mine.pt", "mine.H5", "mine.caffemodel", "mine.safetensors", "m.bin", "./mine"})
    void reportsMissingFiles(String weights) {
        features(weights).failed(ExitCode.MODEL, weights);
    }

    @Test
    void folderOfTheSameNameIsNoWeightsFile() throws IOException {
        String name = "squeezenet-" + UUID.randomUUID();
        Path here = Files.createDirectory(Path.of(name));
        try {
            features(name).failed(ExitCode.MODEL, "'" + name + "'", folder.resolve("store"));
        } finally {
            Files.delete(here);
        }
    }
}
