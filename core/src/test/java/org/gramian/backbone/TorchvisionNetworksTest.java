package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.FormulaWeights;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layers and class scores on formula weights against torchvision's, see scripts/golden/torchvision_networks.py. */
class TorchvisionNetworksTest {
    /** In float64 only the order of sums differs, in float32 rounding does. */
    @ParameterizedTest
    @CsvSource({
        "resnet18, F64, 1e-12", "resnet18, F32, 1e-5",
        "resnet50, F64, 1e-12", "resnet50, F32, 1e-5",
        "resnet50-v1, F64, 1e-12", "resnet50-v1, F32, 1e-5",
        "mobilenet_v3_large, F64, 1e-12", "mobilenet_v3_large, F32, 1e-5",
        "efficientnet_v2_s, F64, 1e-12", "efficientnet_v2_s, F32, 1e-5"
    })
    void layersAreTorchvisions(String network, DType type, double tolerance) throws IOException, URISyntaxException {
        Backbone whole = Backbone.of(network, Backbone.LOGITS);
        Map<String, double[]> found = new LinkedHashMap<>();
        Map<String, Double> largest = new LinkedHashMap<>();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference();
                ParameterSet parameters = FormulaWeights.of(whole.parameters(), type)) {
            Tensor images = FormulaWeights.images(1, 75, 64, type);
            whole.trace(tape.constant(images), Bindings.of(parameters.variables(tape)), (layer, maps) -> {
                found.put(layer, maps.value().toDoubles());
                largest.put(layer, maps.value().largestMagnitude());
            });
        }
        Map<String, double[]> golden = golden(network);
        assertThat(golden).containsKey(Backbone.LOGITS).hasSizeGreaterThan(2);
        golden.forEach((layer, expected) -> assertThat(sampled(Objects.requireNonNull(found.get(layer), layer)))
                .as(layer)
                .containsExactly(expected, Offset.offset(tolerance * Objects.requireNonNull(largest.get(layer)))));
    }

    /** Samples of the layers of a network, by layer. */
    private static Map<String, double[]> golden(String network) throws IOException, URISyntaxException {
        Path file = Path.of(Objects.requireNonNull(
                        TorchvisionNetworksTest.class.getResource("/golden/networks/torchvision_networks.safetensors"))
                .toURI());
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            TensorFile all = Safetensors.read(file, arena);
            Map<String, double[]> layers = new LinkedHashMap<>();
            all.tensors().forEach((name, tensor) -> {
                if (name.startsWith(network + ":")) {
                    layers.put(
                            name.substring(network.length() + 1),
                            tensor.toTensor().toDoubles());
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
