package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.file.Safetensors;
import org.gramian.testing.FormulaWeights;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Layers of vision transformers and ConvNeXt on formula weights against torchvision's and DINOv2's, see
 * scripts/golden/transformers.py. The formula uses the publisher's names, so the names are compared too.
 */
class TransformersTest {
    /** In float64 only the order of sums differs, in float32 rounding does. */
    @ParameterizedTest
    @CsvSource({
        "vit-b16, 224, 224, F32, 1e-5",
        "vit-b16, 280, 250, F32, 1e-5",
        "dinov2-vits14, 112, 98, F64, 1e-11",
        "dinov2-vits14-reg, 112, 98, F64, 1e-11",
        "dinov2-vits14-reg, 112, 98, F32, 1e-5",
        "convnext_tiny, 75, 64, F64, 1e-11",
        "convnext_tiny, 75, 64, F32, 1e-5"
    })
    void layersAreThePublishers(String network, int height, int width, DType type, double tolerance)
            throws IOException, URISyntaxException {
        Backbone whole = Backbone.of(network);
        Backbone last = whole.cutAt(whole.layers().getLast());
        Map<String, double[]> found = new LinkedHashMap<>();
        Map<String, Double> largest = new LinkedHashMap<>();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference();
                ParameterSet parameters = parameters(last, type)) {
            last.trace(
                    tape.constant(FormulaWeights.images(1, height, width, type)),
                    Bindings.of(parameters.variables(tape)),
                    (layer, maps) -> {
                        found.put(layer, maps.value().toDoubles());
                        largest.put(layer, maps.value().largestMagnitude());
                    });
        }
        Map<String, double[]> golden = golden(network + "@" + height + "x" + width + ":");
        assertThat(golden).hasSizeGreaterThan(2);
        golden.forEach((layer, expected) -> assertThat(sampled(Objects.requireNonNull(found.get(layer), layer)))
                .as(layer)
                .containsExactly(expected, Offset.offset(tolerance * Objects.requireNonNull(largest.get(layer)))));
    }

    private static ParameterSet parameters(Backbone backbone, DType type) {
        Naming naming = Naming.known(ExpectedParameters.of(backbone)).getFirst();
        List<ParameterSpec> specs = backbone.parameters().stream()
                .map(spec -> new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, shape, wanted) -> FormulaWeights.tensor(naming.of(spec.name()), shape, wanted)))
                .toList();
        return ParameterSet.initialize(specs, new SplittableRandom(0), type, Device.CPU);
    }

    /** Samples of layers, by layer. */
    private static Map<String, double[]> golden(String prefix) throws IOException, URISyntaxException {
        Path file = Path.of(
                Objects.requireNonNull(TransformersTest.class.getResource("/golden/networks/transformers.safetensors"))
                        .toURI());
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            Map<String, double[]> layers = new LinkedHashMap<>();
            Safetensors.read(file, arena).tensors().forEach((name, tensor) -> {
                if (name.startsWith(prefix)) {
                    layers.put(
                            name.substring(prefix.length()), tensor.toTensor().toDoubles());
                }
            });
            return layers;
        }
    }

    /** The elements that the script samples: at most 32, evenly spaced. */
    private static double[] sampled(double[] all) {
        int step = Math.max(1, Math.ceilDiv(all.length, 32));
        return IntStream.iterate(0, i -> i < all.length, i -> i + step)
                .mapToDouble(i -> all[i])
                .toArray();
    }
}
