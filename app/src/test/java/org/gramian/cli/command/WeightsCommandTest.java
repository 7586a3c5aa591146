package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Predicate;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WeightsCommandTest {
    @TempDir
    Path folder;

    private Run weights(Object... arguments) {
        Object[] all = new Object[arguments.length + 3];
        all[0] = "weights";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[all.length - 2] = "--weights-dir";
        all[all.length - 1] = folder.resolve("store");
        return Run.of(all);
    }

    /** All weights of SqueezeNet, zero. */
    private Path squeezeNet() throws IOException {
        return zeros("squeezenet", "logits", _ -> true);
    }

    private Path zeros(String network, String layer, Predicate<String> kept) throws IOException {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (ParameterSpec spec : Backbone.of(network, layer).parameters()) {
            if (!kept.test(spec.name())) {
                continue;
            }
            byte[] zeros = new byte[Math.toIntExact(spec.shape().elements()) * Short.BYTES];
            tensors.put(spec.name(), new StoredTensor(DType.F16, spec.shape(), MemorySegment.ofArray(zeros)));
        }
        Path path = folder.resolve("mine.safetensors");
        Safetensors.write(path, tensors, Map.of("licence", "my own"));
        return path;
    }

    @Test
    void listsDownloadableWeights() {
        Run run = weights("list").done();
        assertThat(run.out())
                .contains(folder.resolve("store").toString())
                .containsPattern("resnet50 +get +97.8  torchvision, IMAGENET1K_V1, resnet50-0676ba61.pth; BSD-3-Clause")
                .containsPattern("resnet50-v2 +get ")
                .containsPattern("googlenet +get +26.7  ONNX model zoo, googlenet-12.onnx; unrestricted use")
                .doesNotContain("filters");
    }

    @Test
    void rejectsUnknownTensors() throws IOException {
        weights("import", "squeezenet", zeros("squeezenet", "logits", name -> !name.startsWith("fire9")))
                .failed(ExitCode.MODEL, "squeezenet", "missing", "fire9");
        Path other = folder.resolve("other.safetensors");
        StoredTensor one = new StoredTensor(DType.F32, Shape.of(1), MemorySegment.ofArray(new byte[4]));
        Safetensors.write(other, Map.of("something", one), Map.of());
        weights("import", "vgg16", other).failed(ExitCode.MODEL, "conv1_1.weight", "'something'");
    }

    @Test
    void importedWeightsAreListedAndVerified() throws IOException {
        Run imported = weights("import", "squeezenet-mine", squeezeNet());
        Path installed = folder.resolve("store").resolve("squeezenet-mine.safetensors");
        assertThat(imported.out()).isEqualTo(installed + System.lineSeparator());
        assertThat(imported.err()).startsWith("gramian weights import: ").contains("BGR mean=104,117,123");
        assertThat(imported.code()).isZero();
        assertThat(weights("list").out()).containsPattern("squeezenet-mine +installed +2.4  mine.safetensors; my own");
        Run right = weights("verify", "squeezenet-mine").done();
        assertThat(right.out()).startsWith(installed.toString());
        try (RandomAccessFile file = new RandomAccessFile(installed.toFile(), "rw")) {
            file.seek(file.length() - 1);
            file.write(1);
        }
        Run wrong = weights("verify", "squeezenet-mine");
        wrong.failed(ExitCode.MODEL, "gramian weights verify");
        assertThat(wrong.out()).isNotEqualTo(right.out()).startsWith(installed.toString());
    }

    @Test
    void rejectsInvalidNamesAndFiles() throws IOException {
        weights("verify", "vgg16").refused(ExitCode.MODEL, "gramian weights verify", "vgg16");
        for (String name : List.of("vit-s16", "vgg61", "filters")) {
            int code = name.equals("vit-s16") ? ExitCode.MODEL : ExitCode.USAGE;
            weights("get", name).refused(code, "gramian weights get", name);
        }
        weights("get", "vgg16", "--from", "nowhere").refused(ExitCode.USAGE, "gramian weights get", "--from");
        weights("import", "vgg16", squeezeNet())
                .refused(ExitCode.MODEL, folder.resolve("mine.safetensors"), "safetensors");
        weights("import", "vgg16", folder.resolve("absent.pth")).refused(ExitCode.MODEL, folder.resolve("absent.pth"));
    }
}
