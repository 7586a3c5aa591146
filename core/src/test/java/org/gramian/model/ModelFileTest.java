package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ModelFileTest {
    @TempDir
    Path folder;

    /** A card of any numbers and texts. */
    private static ModelCard card(SplittableRandom random) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        SequencedMap<String, Double> metrics = new LinkedHashMap<>();
        for (int i = 0; i < random.nextInt(5); i++) {
            origin.put("key " + random.nextInt(), "\"\\\n\t\u0000 😀 " + random.nextLong());
            metrics.put("metric " + random.nextInt(), Double.longBitsToDouble(random.nextLong()));
        }
        List<String> classes = List.of("a b", "\"b\"", "c\\ü" + random.nextInt());
        Preprocessing preprocessing = new Preprocessing(
                Preprocessing.Order.BGR,
                List.of(random.nextDouble(), random.nextDouble(-9, 9), 3.0),
                List.of(random.nextDouble(1e-3, 300), 1e-7, 1.0));
        CropPlan crops = new CropPlan(CropPlan.Kind.CENTER, random.nextInt(16, 300), random.nextBoolean());
        return new ModelCard(classes, preprocessing, crops, random.nextDouble(1e-9, 1e3), origin, metrics);
    }

    @RandomTest
    void whatIsReadHasTheBitsThatWereWrittenAndGivesTheSameBytesAgain(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        ModelCard card = card(random);
        Path once = folder.resolve("once");
        Path again = folder.resolve("again");
        try (Model model = TinyModel.of(random.nextLong(), random.nextBoolean())) {
            ModelFile.write(once, model, card);
            try (ModelFile.Stored stored = ModelFile.read(once, Device.CPU)) {
                assertThat(stored.card()).isEqualTo(card);
                assertThat(stored.model().backbone()).isEqualTo(model.backbone());
                assertThat(stored.model().head()).isEqualTo(model.head());
                assertEqualBits(stored.model().backboneParameters(), model.backboneParameters());
                assertEqualBits(stored.model().headParameters(), model.headParameters());
                ModelFile.write(again, stored.model(), stored.card());
            }
        }
        assertThat(again).hasSameBinaryContentAs(once);
        assertThat(ModelFile.header(once).card()).isEqualTo(card);
    }

    @RandomTest(times = 4)
    void distancesFromClassesAreWrittenAndRead(Seed seed) throws IOException {
        Path path = folder.resolve("model");
        OpenSet openSet = new OpenSet(0.05, new OpenSet.Scale(3, 1), new OpenSet.Scale(-2, 1), List.of(0.5, 0.25));
        ModelCard card = TinyModel.card("center").with(Optional.of(openSet));
        float[][] descriptors = {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 0, 0, 1}};
        try (Model model = TinyModel.of(3)) {
            assertRejected(() -> ModelFile.write(path, model, card), "known.centre");
            model.setKnown(Optional.of(TinyModel.known(seed.random(), 6, 3)));
            ModelFile.write(path, model, card);
            float[][] expected = model.known().orElseThrow().distances(descriptors);
            try (ModelFile.Stored stored = ModelFile.read(path, Device.CPU)) {
                assertThat(stored.card()).isEqualTo(card);
                assertThat(stored.model().known().orElseThrow().distances(descriptors))
                        .isDeepEqualTo(expected);
            }
        }
    }

    private static void assertEqualBits(ParameterSet found, ParameterSet expected) {
        assertThat(found.all().stream().map(Parameter::name))
                .containsExactlyElementsOf(
                        expected.all().stream().map(Parameter::name).toList());
        for (Parameter parameter : expected.all()) {
            Parameter other = found.get(parameter.name());
            assertThat(other.spec().role()).isEqualTo(parameter.spec().role());
            assertThat(other.value().toBytes())
                    .as(parameter.name())
                    .isEqualTo(parameter.value().toBytes());
        }
    }

    @Test
    void aModelThatCannotBeReadIsNotWritten() throws IOException {
        Path path = folder.resolve("model");
        try (Model model = TinyModel.of(3)) {
            ModelCard two = card(List.of("a", "b"));
            assertRejected(() -> ModelFile.write(path, model, two), "2", "3", "classes");
            Parameter bias = model.headParameters().get("classifier.bias");
            bias.set(Tensors.full(Double.NaN, bias.value().shape(), DType.F32, Device.CPU));
            assertRejected(
                    () -> ModelFile.write(path, model, TinyModel.card("center")), "head.classifier.bias", "NaN", "0");
        }
        assertThat(Files.exists(path)).isFalse();
    }

    private static ModelCard card(List<String> classes) {
        ModelCard card = TinyModel.card("center");
        return new ModelCard(
                classes, card.preprocessing(), card.crops(), card.temperature(), card.origin(), card.metrics());
    }

    @Test
    void aCardHasDistinctClassesAndAPositiveTemperature() {
        assertRejected(() -> card(List.of("a", "b", "a")), "a");
        assertRejected(() -> card(List.of("a", " ")));
        assertRejected(() -> card(List.of("a")), "2", "classes");
        for (double wrong : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertRejected(() -> TinyModel.card("center", wrong), wrong);
        }
    }

    @Test
    void nothingStaysAllocatedOnceAModelIsClosed() throws IOException {
        Path path = folder.resolve("model");
        try (Model model = TinyModel.of(3)) {
            ModelFile.write(path, model, TinyModel.card("center"));
        }
        long before = Tensor.live();
        ModelFile.read(path, Device.CPU).close();
        ModelFile.header(path);
        assertThat(Tensor.live()).isEqualTo(before);
    }
}
