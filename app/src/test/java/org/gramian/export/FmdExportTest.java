package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Exported files on photographs: networks with their published weights, the first images of every class of FMD, and a
 * classifier by nearest means, so that scores tell classes apart as those of a trained model do.
 */
class FmdExportTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final int IMAGES_OF_A_CLASS = FULL ? 5 : 1;
    private static final int CLASSES = FULL ? 10 : 3;
    private static final Path SHARED = Path.of("..", "..", "shared");
    private static final CropPlan CROPS = CropPlan.parse("center:224");

    /** Largest score, about that of a trained model, whose surest predictions are far above 0.99. */
    private static final double LARGEST_SCORE = 10;

    @TempDir
    private Path folder = Path.of("");

    /** All crops, class by class. */
    private record Crops(MemorySegment memory, int count) {
        static Crops read(Arena arena, Rendering rendering) throws IOException {
            List<Path> files = new ArrayList<>();
            try (Stream<Path> classes = Files.list(SHARED.resolve("data/fmd"))) {
                for (Path one : classes.filter(Files::isDirectory)
                        .sorted()
                        .limit(CLASSES)
                        .toList()) {
                    try (Stream<Path> images = Files.list(one)) {
                        images.sorted().limit(IMAGES_OF_A_CLASS).forEach(files::add);
                    }
                }
            }
            MemorySegment memory = arena.allocate(rendering.bytes() * files.size(), 64);
            for (int i = 0; i < files.size(); i++) {
                ReadResult reading = rendering.reader().apply(files.get(i));
                Image image = ((ReadResult.Readable) reading).image();
                rendering.write(image, "", memory.asSlice(i * rendering.bytes(), rendering.bytes()));
            }
            return new Crops(memory, files.size());
        }

        Crops one(int index) {
            long bytes = memory.byteSize() / count;
            return new Crops(memory.asSlice(index * bytes, bytes), 1);
        }

        Shape shape() {
            return Shape.of(count, 3, CROPS.size(), CROPS.size());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "googlenet, googlenet-bvlc, paper", "squeezenet, squeezenet-1.1, paper",
        "googlenet, googlenet-bvlc, bcnn", "squeezenet, squeezenet-1.1, bcnn",
        "googlenet, googlenet-bvlc, isqrt", "squeezenet, squeezenet-1.1, isqrt",
        "googlenet, googlenet-bvlc, average", "squeezenet, squeezenet-1.1, average"
    })
    void exportedMethodsAgreeOnPhotographs(String network, String weights, String method) throws IOException {
        assumeTrue(FULL || network.equals("squeezenet"), "under gramian.full");
        Path file = SHARED.resolve("weights/" + weights + ".safetensors");
        assumeTrue(Files.exists(file), () -> "skipped: there is no " + file + " on this machine");
        try (Arena arena = Arena.ofConfined()) {
            Weights read = Weights.read(network, file, arena, _ -> {});
            Backbone backbone = Backbone.of(network);
            Head head = new Head(Pooling.parse(method), CLASSES, false);
            ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
            Crops crops = Crops.read(arena, new Rendering(reader::read, CROPS.testing(), read.preprocessing()));
            try (Model model = Model.begin(
                    backbone, read.load(backbone, DType.F32, Device.CPU), head, new SplittableRandom(3), Device.CPU)) {
                nearestMeans(model, crops);
                record(network, method, compare(model, card(read), crops), crops.count());
            }
        }
    }

    private static ModelCard card(Weights weights) {
        List<String> names = Stream.iterate(0, k -> k + 1)
                .limit(CLASSES)
                .map(k -> "class " + k)
                .toList();
        return new ModelCard(names, weights.preprocessing(), CROPS, 1.5, new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    private EngineDifference compare(Model model, ModelCard card, Crops crops) throws IOException {
        Path file = folder.resolve("model.onnx");
        ExportedFile.write(file, model, card, ExportedFile.DEFAULT_OPSET);
        EngineDifference found = EngineDifference.none();
        try (OnnxEngine onnx = OnnxEngine.open(file, 0)) {
            for (int i = 0; i < crops.count(); i++) {
                Crops one = crops.one(i);
                found = found.and(EngineDifference.of(
                        onnx, Engine.of(model), one.memory().toArray(ValueLayout.JAVA_FLOAT), one.shape()));
            }
        }
        assertThat(found.crops()).isEqualTo(crops.count());
        assertThat(found.largestScore()).isGreaterThan(1);
        assertThat(found.scores()).as(found.text()).isLessThan(EngineDifference.MOST);
        assertThat(found.probabilities()).as(found.text()).isLessThan(EngineDifference.MOST);
        return found;
    }

    /** Scores {@code ⟨v − m, m_k − m⟩} of class means m_k and the mean m of all, times a factor that spreads them. */
    private static void nearestMeans(Model model, Crops crops) {
        List<float[]> rows = new ArrayList<>();
        for (int i = 0; i < crops.count(); i++) {
            Crops one = crops.one(i);
            rows.add(Engine.of(model).compute(one.memory(), one.shape(), Engine.Rows.DESCRIPTORS)[0]);
        }
        int length = rows.getFirst().length;
        double[] weight = new double[CLASSES * length];
        double[] mean = new double[length];
        for (int i = 0; i < rows.size(); i++) {
            for (int j = 0; j < length; j++) {
                weight[i / IMAGES_OF_A_CLASS * length + j] += rows.get(i)[j] / IMAGES_OF_A_CLASS;
                mean[j] += rows.get(i)[j] / rows.size();
            }
        }
        double[] bias = new double[CLASSES];
        for (int i = 0; i < weight.length; i++) {
            weight[i] -= mean[i % length];
            bias[i / length] -= weight[i] * mean[i % length];
        }
        double largest = 0;
        for (float[] row : rows) {
            for (int k = 0; k < CLASSES; k++) {
                double score = bias[k];
                for (int j = 0; j < length; j++) {
                    score += weight[k * length + j] * row[j];
                }
                largest = Math.max(largest, Math.abs(score));
            }
        }
        try (Scope _ = Scope.open()) {
            Tensor weights = Tensors.of(weight, Shape.of(CLASSES, length), DType.F32);
            var parameters = model.headParameters();
            parameters.get("classifier.weight").set(weights.mul(LARGEST_SCORE / largest));
            parameters
                    .get("classifier.bias")
                    .set(Tensors.of(bias, Shape.of(CLASSES), DType.F32).mul(LARGEST_SCORE / largest));
        }
    }

    private static void record(String network, String method, EngineDifference found, int images) {
        String line = String.format(
                Locale.ROOT,
                "| %s | `%s` | %d | %.1f | %.1e | %.1e | %.1e |%n",
                network,
                method,
                images,
                found.largestScore(),
                found.scores(),
                found.probabilities(),
                found.descriptors());
        if (FULL) {
            Path file = Path.of("target", "full-results", "FmdExportTest.md");
            try {
                Files.createDirectories(file.getParent());
                Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
