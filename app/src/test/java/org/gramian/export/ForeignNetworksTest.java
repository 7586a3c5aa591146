package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.backbone.onnx.Segment;
import org.gramian.backbone.onnx.Segments;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Networks of torchvision, exported by PyTorch, against ONNX Runtime: with {@code -Dgramian.test.onnx=FOLDER} those that
 * {@code scripts/golden/onnx_networks.py} wrote there.
 */
class ForeignNetworksTest {
    private static final double TOLERANCE = 1e-4;

    @Test
    @EnabledIfSystemProperty(named = "gramian.test.onnx", matches = ".+")
    void fullNetworksAreEqualToOnnxRuntime() throws IOException, OrtException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("gramian.test.onnx")))) {
            for (Path file :
                    files.filter(f -> f.toString().endsWith(".onnx")).sorted().toList()) {
                compare(file);
            }
        }
    }

    private static void compare(Path file) throws IOException, OrtException {
        try (Arena arena = Arena.ofConfined();
                OrtEnvironment environment = OrtEnvironment.getEnvironment();
                OrtSession session = environment.createSession(file.toString(), new OrtSession.SessionOptions())) {
            OnnxFile read = OnnxFile.read(file, arena);
            OnnxGraph graph = OnnxGraph.ofJson(read.graph().toJson());
            List<Segment> segments = Segments.of(graph);
            System.out.println(
                    file.getFileName() + ": " + graph.nodes().size() + " nodes, " + segments.size() + " layers");
            try (Scope _ = Scope.open()) {
                Map<String, Tensor> weights = new HashMap<>();
                read.weights().forEach((name, weight) -> weights.put(name, weight.toTensor()));
                int size = Segments.size(graph);
                for (int batch : graph.input().sizes().getFirst() == 1 ? new int[] {1, 3} : new int[] {1, 8}) {
                    for (int side : graph.input().sizes().get(2) > 0 ? new int[] {size} : new int[] {size, 160}) {
                        Shape shape = Shape.of(batch, 3, side, side == size ? side : side + 32);
                        double difference = difference(segments, weights, shape, session, environment, graph);
                        System.out.printf("  %s %.2e%n", shape, difference);
                        assertThat(difference).as("%s at %s", file, shape).isLessThan(TOLERANCE);
                    }
                }
            }
        }
    }

    /** Returns the largest difference, relative to the largest absolute value. */
    private static double difference(
            List<Segment> segments,
            Map<String, Tensor> weights,
            Shape shape,
            OrtSession session,
            OrtEnvironment environment,
            OnnxGraph graph)
            throws OrtException {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor images = Tensors.gaussian(new SplittableRandom(3), shape, DType.F32);
            Map<String, Var> variables = new HashMap<>();
            weights.forEach((name, value) -> variables.put(name, tape.constant(value)));
            Var state = tape.constant(images);
            long start = System.nanoTime();
            int mark = tape.mark();
            for (Segment segment : segments) {
                state = segment.apply(state, Bindings.of(variables));
                tape.keepOnly(state, mark);
            }
            long own = System.nanoTime() - start;
            float[] found = state.value().toFloats();
            float[] expected = expected(images, session, environment, graph);
            System.out.printf(
                    "  %d ms, onnxruntime %d ms%n", own / 1_000_000, (System.nanoTime() - start - own) / 1_000_000);
            assertThat(found).hasSameSizeAs(expected);
            double largest = 0;
            double difference = 0;
            for (int i = 0; i < found.length; i++) {
                largest = Math.max(largest, Math.abs(expected[i]));
                difference = Math.max(difference, Math.abs(expected[i] - found[i]));
            }
            return difference / largest;
        }
    }

    /** Runs ONNX Runtime; a file for one image runs image by image. */
    private static float[] expected(Tensor images, OrtSession session, OrtEnvironment environment, OnnxGraph graph)
            throws OrtException {
        float[] values = images.toFloats();
        int batch = (int) images.size(0);
        int parts = graph.input().sizes().getFirst() == 1 ? batch : 1;
        int each = values.length / parts;
        float[] all = new float[0];
        for (int i = 0; i < parts; i++) {
            long[] sizes = images.shape().with(0, batch / parts).sizes();
            try (OnnxTensor input = OnnxTensor.createTensor(
                            environment,
                            FloatBuffer.wrap(values, i * each, each).slice(),
                            sizes);
                    OrtSession.Result result = session.run(Map.of(graph.input().name(), input))) {
                FloatBuffer buffer = ((OnnxTensor) result.get(0)).getFloatBuffer();
                if (i == 0) {
                    all = new float[buffer.remaining() * parts];
                }
                buffer.get(all, i * (all.length / parts), all.length / parts);
            }
        }
        return all;
    }
}
