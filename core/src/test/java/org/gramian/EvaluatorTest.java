package org.gramian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.Evaluator.Measurement;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.evaluate.compare.TestImages;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.testing.PaintedImages;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EvaluatorTest {
    private static final List<String> KNOWN = List.of("wood", "glass", "stone");

    private static final Function<Path, ReadResult> READER = new ImageReader(ImageLimits.DEFAULT)::read;
    private final Model model = TinyModel.of(3);

    @TempDir
    private Path root = Path.of("");

    @BeforeEach
    void writeImages() throws IOException {
        write(4, "stone", "wood");
    }

    /** Writes this many images of each class. */
    private void write(int each, String... classes) throws IOException {
        for (String name : classes) {
            Files.createDirectories(root.resolve(name));
            for (int i = 0; i < each; i++) {
                PaintedImages.paint(root.resolve(name).resolve(i + ".png"), name.length(), 31L * name.hashCode() + i);
            }
        }
    }

    @AfterEach
    void free() {
        model.close();
    }

    private Evaluator evaluator(List<String> classes, double temperature) {
        ModelCard card = MadeUp.card(classes, temperature, Map.of());
        return Evaluator.of(
                Classifier.of(Engine.of(model), card).withCrops(card.crops()).withBatch(32), READER);
    }

    private Measurement measure(List<String> classes, double temperature, List<Integer> indexes) throws IOException {
        Dataset dataset = Layouts.open(root);
        return evaluator(classes, temperature)
                .on(dataset, new TestImages(indexes, Setting.all(dataset), List.of()), _ -> {});
    }

    private static List<Integer> upTo(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    @Test
    void classesAreMatchedByName() throws IOException {
        Evaluation evaluation = measure(KNOWN, 1, upTo(8)).evaluation();
        assertThat(evaluation.classes()).isEqualTo(KNOWN);
        assertThat(evaluation.predictions())
                .hasSize(8)
                .allSatisfy(one -> assertThat(one.name()).startsWith(KNOWN.get(one.truth()) + "/"));
    }

    @Test
    void scoresAreTheMeanProbabilitiesOfTheCrops() throws IOException {
        Dataset dataset = Layouts.open(root);
        Map<String, Logits> expected = new HashMap<>();
        ModelCard card = MadeUp.card(KNOWN, 1, Map.of());
        List<ImageSource> sources = dataset.samples().stream()
                .map(sample -> ImageSource.of(sample, READER))
                .toList();
        new InferencePipeline(Engine.of(model), card.crops().testing(), card.preprocessing(), 16, 2)
                .run(sources, Set.of(Engine.Rows.SCORES), (sample, result) -> {
                    float[][] rows =
                            assertInstanceOf(ImageResult.Computed.class, result).of(Engine.Rows.SCORES);
                    assertThat(rows).hasDimensions(5, 3);
                    expected.put(dataset.samples().get(sample).name(), Logits.ofCrops(rows));
                });
        Evaluation evaluation = measure(KNOWN, 1, upTo(8)).evaluation();
        assertThat(evaluation.predictions())
                .allSatisfy(one -> assertThat(one.logits()).isEqualTo(expected.get(one.name())));
        assertThat(expected.values().stream().distinct()).as("distinct scores").hasSize(8);
    }

    @Test
    void theTemperatureOfTheCardIsUsed() throws IOException {
        assertThat(measure(KNOWN, 1, upTo(8)).evaluation().temperature()).isEqualTo(Temperature.NONE);
        assertThat(measure(KNOWN, 2.5, upTo(8)).evaluation().temperature())
                .isEqualTo(new Temperature(2.5, "validation images"));
    }

    @Test
    void unreadableImagesAreListedAndDoNotCount() throws IOException {
        Evaluation whole = measure(KNOWN, 1, upTo(8)).evaluation();
        Files.writeString(root.resolve("wood/2.png"), "no image");
        Measurement measured = measure(KNOWN, 1, upTo(8));
        assertThat(measured.unreadable()).containsOnlyKeys("wood/2.png");
        assertThat(measured.unreadable().get("wood/2.png")).contains("JPEG");
        assertThat(measured.evaluation().predictions())
                .hasSize(7)
                .isEqualTo(whole.predictions().stream()
                        .filter(one -> !one.name().equals("wood/2.png"))
                        .toList());
    }

    @Test
    void evaluationFailsIfNoImageIsReadable() throws IOException {
        for (int i = 0; i < 4; i++) {
            Files.writeString(root.resolve("wood/" + i + ".png"), "no image");
        }
        assertRejected(DatasetException.class, () -> measure(KNOWN, 1, List.of(4, 5, 6, 7)), "4", "wood/0.png");
        assertRejected(DatasetException.class, () -> measure(KNOWN, 1, List.of()));
    }

    @Test
    void anUnknownClassIsRefusedWithASuggestion() throws IOException {
        write(2, "glas", "zebra");
        assertRejected(
                DatasetException.class, () -> measure(KNOWN, 1, upTo(8)), "glas", "glass", "zebra", "wood", "stone");
    }
}
