package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbones.OnnxNetworks;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Small networks exported by PyTorch ({@code scripts/golden/onnx_small.py}) against PyTorch in float64. */
class OnnxNetworksTest {
    private static final int IMAGES = 3;
    private static final double TOLERANCE = 1e-5;

    private static Path file(String name) {
        try {
            return Path.of(Objects.requireNonNull(OnnxNetworksTest.class.getResource("/golden/onnx/" + name))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Network network(OnnxGraph graph) {
        return OnnxNetworks.network("imported", graph, Preprocessing.TORCHVISION);
    }

    private static OnnxFile read(String name, Arena arena) throws IOException {
        return OnnxFile.read(file(name + ".onnx"), arena);
    }

    /** Values in {@code [−1, 1)} by the formula of the script. */
    static Tensor formula(String name, Shape shape) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        double[] values = new double[(int) shape.elements()];
        for (int i = 0; i < values.length; i++) {
            int x = (int) (crc.getValue() + i * 2654435761L);
            x ^= x >>> 16;
            x *= (int) 2246822519L;
            x ^= x >>> 13;
            x *= (int) 3266489917L;
            x ^= x >>> 16;
            values[i] = Integer.toUnsignedLong(x) / 0x1p31 - 1;
        }
        return Tensors.of(values, shape, DType.F64);
    }

    @ParameterizedTest
    @ValueSource(strings = {"kitchen", "vit", "vit-fixed", "swin-fixed", "convnext"})
    void valuesAndGradientsEqualTorch(String name) throws IOException {
        JsonNode golden = JsonMapper.shared()
                .readTree(Files.readString(file("golden.json")))
                .get(name);
        try (Arena arena = Arena.ofConfined();
                Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            OnnxFile file = read(name, arena);
            OnnxGraph graph = OnnxGraph.of(file.graph().definition());
            assertThat(graph).isEqualTo(file.graph());
            Map<String, Var> weights = new HashMap<>();
            file.weights()
                    .forEach((key, weight) ->
                            weights.put(key, tape.variable(weight.toTensor().to(DType.F64))));
            Var images = tape.variable(formula("image", Shape.of(IMAGES, 3, 32, 32)));
            Var scores = images;
            for (NetworkLayer stage : network(graph).stages()) {
                scores = stage.apply(scores, Bindings.of(weights));
            }
            assertNear(scores.value(), 1, golden.get("scores"), name + " scores");
            Tensor upstream = formula("upstream", scores.shape());
            try (Gradients gradients = tape.backward(scores, upstream)) {
                assertNear(gradients.of(images), 97, golden.get("image"), name + " image");
                int compared = 0;
                for (Map.Entry<String, JsonNode> entry : golden.get("gradients").properties()) {
                    Var weight = weights.get(entry.getKey());
                    if (weight != null) {
                        assertNear(gradients.of(weight), 1, entry.getValue(), name + " " + entry.getKey());
                        compared++;
                    }
                }
                assertThat(compared).isGreaterThan(8);
            }
        }
    }

    /** Compares every {@code step}-th element, up to the number of expected ones. */
    private static void assertNear(Tensor found, int step, JsonNode expected, String what) {
        double[] values = found.toDoubles();
        double scale = 1e-12;
        for (double value : values) {
            scale = Math.max(scale, Math.abs(value));
        }
        for (int i = 0; i < expected.size(); i++) {
            assertThat(values[i * step])
                    .as(what + " " + i)
                    .isCloseTo(expected.get(i).asDouble(), within(TOLERANCE * scale));
        }
    }

    private static List<String> layers(Network network) {
        return network.stages().stream().map(NetworkLayer::name).toList();
    }

    @Test
    void cutsNetworkWhereBranchesJoin() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Network network = network(read("kitchen", arena).graph());
            assertThat(layers(network))
                    .containsExactly(
                            "stem.2",
                            "maxpool",
                            "add",
                            "add_1",
                            "concat",
                            "norm",
                            "leakyrelu",
                            "sub",
                            "relu_1",
                            "pad_2",
                            "reducemean",
                            Backbone.LOGITS);
            assertThat(network.cuts().defaultLayer()).isEqualTo("pad_2");
            Map<Role, Integer> roles = new HashMap<>();
            for (NetworkLayer stage : network.stages()) {
                for (ParameterSpec spec : stage.parameters(3)) {
                    roles.merge(spec.role(), 1, Integer::sum);
                }
            }
            assertThat(roles).containsEntry(Role.FITTED, 6);
        }
    }

    @Test
    void tokensBecomeMapsWithoutClassToken() throws IOException {
        try (Arena arena = Arena.ofConfined();
                Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            for (String name : List.of("vit", "vit-fixed")) {
                OnnxFile file = read(name, arena);
                Network network = network(file.graph());
                Map<String, Var> weights = new HashMap<>();
                file.weights().forEach((key, weight) -> weights.put(key, tape.constant(weight.toTensor())));
                Shape maps = Shape.of(3, 32, 32);
                Var state =
                        tape.constant(formula("image", Shape.of(2, 3, 32, 32)).to(DType.F32));
                List<Shape> seen = new ArrayList<>();
                for (NetworkLayer stage : network.stages()) {
                    state = stage.apply(state, Bindings.of(weights));
                    maps = stage.output(maps);
                    Shape expected = Shape.of(2, maps.at(0), maps.at(1), maps.at(2));
                    assertThat(stage.features(state, maps).shape())
                            .as(stage.name())
                            .isEqualTo(expected);
                    seen.add(maps);
                }
                assertThat(seen).contains(Shape.of(24, 4, 4)).endsWith(Shape.of(5, 1, 1));
                assertThat(network.cuts().defaultLayer()).isEqualTo("encoder.ln");
            }
        }
    }

    @Test
    void fixedNetworkRejectsOtherImageSize() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Network network = network(read("vit-fixed", arena).graph());
            Shape maps = Shape.of(3, 48, 48);
            for (NetworkLayer stage : network.stages()) {
                maps = maps.elements() == 0 ? maps : stage.output(maps);
            }
            assertThat(maps.elements()).isZero();
        }
    }

    /** {@code resnet18.txt} is the graph that PyTorch exports for torchvision's ResNet-18 with its batch norms. */
    @Test
    void resNet18EqualsNativeNetwork() throws IOException {
        Network imported = network(OnnxGraph.of(Files.readString(file("resnet18.txt"))));
        List<NetworkLayer> own = Backbones.network("resnet18").stages();
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Map<String, Var> weights = new HashMap<>();
            for (ParameterSpec spec : new NetworkLayer.Chain("all", own).parameters(3)) {
                Tensor value =
                        spec.initial().make(new SplittableRandom(spec.name().hashCode()), spec.shape(), DType.F32);
                weights.put(spec.name(), spec.role() == Role.FITTED ? tape.constant(value) : tape.variable(value));
            }
            List<ParameterSpec> parameters = imported.stages().stream()
                    .flatMap(stage -> stage.parameters(3).stream())
                    .toList();
            assertThat(parameters)
                    .extracting(ParameterSpec::name)
                    .containsExactlyInAnyOrderElementsOf(weights.keySet());
            Var images = tape.variable(formula("image", Shape.of(2, 3, 96, 64)).to(DType.F32));
            Var expected = run(own, images, weights);
            Var found = run(imported.stages(), images, weights);
            assertThat(RelativeError.of(found.value(), expected.value())).isLessThan(1e-5);
            assertThat(layers(imported)).hasSize(own.size() + 1); // Flatten is a layer of its own
        }
    }

    private static Var run(List<NetworkLayer> stages, Var images, Map<String, Var> weights) {
        Var state = images;
        for (NetworkLayer stage : stages) {
            state = stage.apply(state, Bindings.of(weights));
        }
        return state;
    }
}
