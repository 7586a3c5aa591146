package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Networks with their published weights give the class scores of another program, on photographs. */
class PretrainedBackbonesTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        scope.close();
        arena.close();
    }

    @Test
    void googLeNetIsCaffes() throws IOException {
        compare("googlenet", "googlenet-bvlc", Map.of("inception_4e", "inception4eMean"));
    }

    @Test
    void squeezeNetIsCaffes() throws IOException {
        compare("squeezenet", "squeezenet-1.1", Map.of());
    }

    @Test
    void efficientNetLiteIsTensorFlows() throws IOException {
        compare("efficientnet-lite4", "efficientnet-lite4", Map.of("block20", "block20Mean", "block28", "block28Mean"));
    }

    /** Weights by scripts/resnet50_from_npm.py; a tench, a dalmatian, a clog and a radiator. */
    @Test
    void resNetV1RecognizesThePhotographs() throws IOException {
        TensorFile golden = Safetensors.read(SharedFolder.require("golden/googlenet.safetensors"), arena);
        Path file = SharedFolder.require("weights/resnet50-v1.safetensors");
        Weights read = Weights.read("resnet50-v1", file, arena, remark -> {});
        Backbone whole = Backbone.of("resnet50-v1", Backbone.LOGITS);
        Tensor images = preprocessed(golden.get("image"), read.preprocessing());
        try (ParameterSet parameters = read.load(whole, DType.F32, Device.CPU)) {
            double[] scores = apply(whole, parameters, images, false).toDoubles();
            assertThat(IntStream.range(0, 4)
                            .map(image -> best(scores, image, 1000).getFirst()))
                    .containsExactly(0, 251, 502, 753);
        }
    }

    /** Scores to 1e-3 with the same five best, and channel means of layers to 1e-4 of their largest. */
    private void compare(String name, String weights, Map<String, String> means) throws IOException {
        TensorFile golden = Safetensors.read(SharedFolder.require("golden/" + name + ".safetensors"), arena);
        Path file = SharedFolder.require("weights/" + weights + ".safetensors");
        List<String> remarks = new ArrayList<>();
        Weights read = Weights.read(name, file, arena, remarks::add);
        assertThat(remarks).isEmpty();
        Backbone whole = Backbone.of(name, Backbone.LOGITS);
        Tensor images = preprocessed(golden.get("image"), read.preprocessing());
        try (ParameterSet parameters = read.load(whole, DType.F32, Device.CPU)) {
            Tensor logits = apply(whole, parameters, images, false);
            assertLogits(logits, golden.get("logits").toTensor());
            Tensor first = images.slice(0, 0, 1).to(DType.BF16); // BF16 is slow on a CPU
            assertSameClass(apply(whole, parameters, first, false), logits.slice(0, 0, 1));
            for (Map.Entry<String, String> layer : means.entrySet()) {
                Tensor found = apply(whole.cutAt(layer.getKey()), parameters, images, true);
                Tensor expected = golden.get(layer.getValue()).toTensor();
                double[] values = expected.toDoubles();
                double largest = IntStream.range(0, values.length)
                        .mapToDouble(i -> Math.abs(values[i]))
                        .max()
                        .orElseThrow();
                assertThat(found.toDoubles()).as(layer.getKey()).containsExactly(values, Offset.offset(1e-4 * largest));
            }
        }
    }

    private static Tensor apply(Backbone backbone, ParameterSet parameters, Tensor images, boolean means) {
        try (Tape tape = Tape.inference()) {
            Var features = backbone.apply(tape.constant(images), Bindings.of(parameters.variables(tape)));
            return (means ? FeatureMaps.globalAveragePool(features) : features)
                    .value()
                    .copy();
        }
    }

    /** Bytes {@code [n, h, w, 3]} in the order R, G, B to {@code [n, 3, h, w]} as the weights want them. */
    private Tensor preprocessed(StoredTensor bytes, Preprocessing preprocessing) {
        int count = Math.toIntExact(bytes.shape().at(0));
        int size = Math.toIntExact(bytes.shape().at(1));
        int each = 3 * size * size;
        MemorySegment numbers = arena.allocate((long) count * each * Float.BYTES, Float.BYTES);
        for (int i = 0; i < count; i++) {
            byte[] rgb = bytes.data().asSlice((long) i * each, each).toArray(ValueLayout.JAVA_BYTE);
            MemorySegment target = numbers.asSlice((long) i * each * Float.BYTES, (long) each * Float.BYTES);
            preprocessing.write(new Image(size, size, rgb), new Crop(size, size, 0, 0, size, false), target);
        }
        return Tensors.copyOf(numbers, DType.F32, Shape.of(count, 3, size, size));
    }

    private static void assertLogits(Tensor found, Tensor expected) {
        double[] scores = found.toDoubles();
        double[] wanted = expected.toDoubles();
        assertThat(scores).containsExactly(wanted, Offset.offset(1e-3));
        int classes = (int) expected.size(1);
        for (int image = 0; image < expected.size(0); image++) {
            assertThat(best(scores, image, classes)).as("image %d", image).isEqualTo(best(wanted, image, classes));
        }
    }

    /** Feature maps in BF16 move scores by up to 2.5 % of their size; the class stays. */
    private static void assertSameClass(Tensor mixed, Tensor exact) {
        double size = exact.largestMagnitude();
        assertThat(mixed.toDoubles()).containsExactly(exact.toDoubles(), Offset.offset(0.05 * size));
        int classes = (int) exact.size(1);
        for (int image = 0; image < exact.size(0); image++) {
            assertThat(best(mixed.toDoubles(), image, classes).getFirst())
                    .as("image %d", image)
                    .isEqualTo(best(exact.toDoubles(), image, classes).getFirst());
        }
    }

    private static List<Integer> best(double[] scores, int image, int classes) {
        return IntStream.range(0, classes)
                .boxed()
                .sorted(Comparator.comparingDouble(c -> -scores[image * classes + c]))
                .limit(5)
                .toList();
    }
}
