package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
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
 * Layers on formula weights against those of torchvision and DINOv2, see scripts/golden/transformers.py and
 * scripts/golden/torchvision_networks.py. Where the formula uses the publisher's names, the names are compared too.
 */
class PublishedNetworksTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    /** A network with its image size and type, and the layer up to which it is compared, unless at full size. */
    @ParameterizedTest
    @CsvSource({
        "vit-b16@224x224, F32, blocks.0",
        "vit-b16@280x250, F32, blocks.0",
        "dinov2-vits14@112x98, F64, blocks.0",
        "dinov2-vits14-reg@112x98, F64, norm",
        "dinov2-vits14-reg@112x98, F32, blocks.0",
        "convnext_tiny@75x64, F64, features.1",
        "convnext_tiny@75x64, F32, features.7",
        "resnet18, F64, logits",
        "resnet18, F32, logits",
        "resnet50, F64, layer2.0",
        "resnet50, F32, layer2.0",
        "resnet50-v1, F64, layer2.0",
        "resnet50-v1, F32, layer2.0",
        "mobilenet_v3_large, F32, logits",
        "efficientnet_v2_s, F32, logits"
    })
    void layersAreThePublishers(String golden, DType type, String layer) throws IOException, URISyntaxException {
        String[] parts = golden.split("[@x]", -1);
        boolean transformer = golden.contains("@");
        String network = transformer ? golden.substring(0, golden.indexOf('@')) : golden;
        long height = transformer ? Long.parseLong(parts[parts.length - 2]) : 75;
        long width = transformer ? Long.parseLong(parts[parts.length - 1]) : 64;
        Backbone whole = Backbone.of(network, Backbone.of(network).layers().getLast());
        Naming naming = Naming.known(ExpectedParameters.of(whole)).getFirst();
        Backbone cut = FULL ? whole : whole.cutAt(layer);
        List<ParameterSpec> specs = cut.parameters().stream()
                .map(spec -> new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, shape, wanted) -> FormulaWeights.tensor(
                                transformer ? naming.of(spec.name()) : spec.name(), shape, wanted)))
                .toList();
        Map<String, double[]> expected = golden(golden + ":");
        assertThat(expected).hasSizeGreaterThan(2).containsKey(layer);
        double tolerance = type == DType.F64 ? 1e-11 : 1e-5; // the order of sums differs, and rounding
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference();
                ParameterSet parameters = ParameterSet.initialize(specs, new SplittableRandom(0), type, Device.CPU)) {
            List<String> compared = new ArrayList<>();
            cut.trace(
                    tape.constant(FormulaWeights.images(1, height, width, type)),
                    Bindings.of(parameters.variables(tape)),
                    (name, maps) -> {
                        double[] wanted = expected.get(name);
                        if (wanted != null) {
                            compared.add(name);
                            assertThat(sampled(maps.value().toDoubles()))
                                    .as(name)
                                    .containsExactly(
                                            wanted,
                                            Offset.offset(
                                                    tolerance * maps.value().largestMagnitude()));
                        }
                    });
            assertThat(compared).contains(layer);
            assertThat(!FULL || compared.size() == expected.size()).isTrue();
        }
    }

    /** Samples of layers, by layer. */
    private static Map<String, double[]> golden(String prefix) throws IOException, URISyntaxException {
        String name = prefix.contains("@") ? "transformers" : "torchvision_networks";
        Path file = Path.of(Objects.requireNonNull(
                        PublishedNetworksTest.class.getResource("/golden/networks/" + name + ".safetensors"))
                .toURI());
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            Map<String, double[]> layers = new LinkedHashMap<>();
            Safetensors.read(file, arena).tensors().forEach((layer, tensor) -> {
                if (layer.startsWith(prefix)) {
                    layers.put(
                            layer.substring(prefix.length()), tensor.toTensor().toDoubles());
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
