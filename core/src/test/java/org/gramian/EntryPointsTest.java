package org.gramian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.Inspection;
import org.gramian.basis.JsonText;
import org.gramian.explain.Explanation;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.NearestImages.Match;
import org.gramian.image.ImageSource;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.dataset.Dataset;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction;
import org.gramian.model.Predictions;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What users do with a run: evaluate, explain, find similar images, audit; on 3 classes of 6 images. */
class EntryPointsTest {
    @TempDir
    private static Path folder = Path.of("");

    private static Dataset dataset = new Dataset(folder, List.of(), List.of());
    private static TrainingReport report;
    private static Classifier classifier;

    @BeforeAll
    static void train() throws IOException {
        dataset = PaintedImages.folders(folder.resolve("images"), 6, 6, 6);
        report = Trainer.on(dataset)
                .backbone("filters")
                .pooling("conv:6/rbf/spd:4/relu/triu/root/l2")
                .protocol("holdout:0.34")
                .set("data.crops", "center:16")
                .validation(0)
                .epochs(2)
                .batchSize(4)
                .learningRate(0.1)
                .device(Device.CPU)
                .weights(folder.resolve("weights"))
                .withoutCache()
                .train(folder.resolve("run"));
        classifier = Classifier.load(folder.resolve("run"));
    }

    @AfterAll
    static void close() {
        classifier.close();
    }

    private static JsonNode parse(String json) {
        return JsonMapper.shared().readTree(json);
    }

    @Test
    void evaluatesOwnTestImages() throws IOException {
        Evaluator.Measurement measured = Evaluator.of(classifier).on(dataset.root());
        assertThat(measured.evaluation().accuracy().value()).isEqualTo(report.accuracy());
        assertThat(measured.evaluation().predictions())
                .hasSize(report.folds().getFirst().images());
        assertThat(measured.remarks()).singleElement().asString().contains("the model was trained on");
        JsonNode json = parse(measured.toJson());
        assertThat(json.get("accuracy").doubleValue()).isEqualTo(report.accuracy());
        assertThat(json.get("classes"))
                .hasSize(3)
                .allSatisfy(one -> assertThat(one.has("recall")).isTrue());
        assertThat(json.get("accuracy95").get("low").doubleValue()).isLessThan(report.accuracy());
    }

    @Test
    void evaluatesAllImagesAndFolds() throws IOException {
        assertThat(Evaluator.of(classifier).all().on(dataset).evaluation().predictions())
                .hasSize(18);
        assertThatThrownBy(
                        () -> Evaluator.of(classifier).fold("kfold:2", "1", 0).on(dataset))
                .hasMessageContaining("trained on");
    }

    @Test
    void explainsPredictedAndNamedClass() throws IOException {
        Path file = dataset.samples().getFirst().file();
        Explanation why = Explainer.of(classifier, 2).explain(file);
        assertThat(why.className()).isEqualTo(classifier.predict(file).className());
        assertThat(why.heat().coverage()).isPositive();
        assertThat(parse(why.toJson()).get("class").asString()).isEqualTo(why.className());
        String other = classifier.classes().getLast();
        assertThat(Explainer.of(classifier)
                        .explain(classifier.decode(ImageSource.of(file)), other)
                        .className())
                .isEqualTo(other);
    }

    @Test
    void refusesToExplainWithoutGradients() {
        try (Classifier other = Classifier.of((_, _, _) -> Map.of(), classifier.card())) {
            assertThatThrownBy(() -> Explainer.of(other)).hasMessageContaining("Classifier.load(path, Device.CPU)");
        }
    }

    @Test
    void findsTrainingImageNearestToItself() throws IOException {
        Gallery gallery = Gallery.of(folder.resolve("run"));
        Gallery.Item item = gallery.items().getFirst();
        List<Match> nearest = gallery.nearest(classifier, dataset.root().resolve(item.name()), 2);
        assertThat(nearest).hasSize(2);
        assertThat(nearest.getFirst().name()).isEqualTo(item.name());
        assertThat(nearest.getFirst().distance()).isLessThan(0.01);
        assertThatThrownBy(() -> Gallery.of(folder.resolve("images"))).hasMessageContaining("--no-gallery");
    }

    @Test
    void auditFindsCopyInOtherClass(@TempDir Path images) throws IOException {
        Dataset painted = PaintedImages.folders(images, 3, 3);
        Path file = painted.samples().getFirst().file();
        Files.copy(file, painted.samples().getLast().file().resolveSibling("copy.png"));
        assertThat(Audit.of(images).finding(Finding.Kind.COPIES_ACROSS_CLASSES)).isPresent();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Audit.of(images)).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void trainsDetectorThatInspects(@TempDir Path images) throws IOException {
        Dataset good = PaintedImages.folders(images, 12);
        DetectorTraining.Options options = new DetectorTraining.Options(64, 0, OptionalDouble.of(0.2), 1, 2);
        Path run = folder.resolve("detector");
        DetectorTrainer trainer =
                DetectorTrainer.on(images).backbone("gramian-s").options(options);
        try (Detector trained = trainer.train(run).detector();
                Detector loaded = Detector.load(run)) {
            Inspection inspection = loaded.inspect(good.samples().getFirst().file());
            assertThat(inspection.score())
                    .isEqualTo(trained.inspect(good.samples().getFirst().file()).score());
            assertThat(parse(inspection.toJson()).get("anomalous").booleanValue())
                    .isEqualTo(inspection.isAnomalous());
        }
        assertThatThrownBy(() -> trainer.train(run)).hasMessageContaining("found a run in it");
    }

    @Test
    void trainsDetectorOnBackboneWithoutWeights(@TempDir Path images) throws IOException {
        Path file = PaintedImages.folders(images, 12).samples().getFirst().file();
        Path run = folder.resolve("filters");
        DetectorTrainer trainer = DetectorTrainer.on(images)
                .backbone("filters")
                .options(new DetectorTraining.Options(64, 0, OptionalDouble.of(0.2), 1, 2));
        try (Detector trained = trainer.train(run).detector();
                Detector loaded = Detector.load(run)) {
            assertThat(loaded.inspect(file).score())
                    .isPositive()
                    .isEqualTo(trained.inspect(file).score());
        }
    }

    @Test
    void resultsAreJson() {
        Path missing = folder.resolve("missing.png");
        Path file = dataset.samples().getFirst().file();
        Predictions predictions = classifier.predict(List.of(file, missing));
        JsonNode json = parse(predictions.toJson());
        Prediction prediction = predictions.found().firstEntry().getValue();
        assertThat(json.get("found").get(file.toString()).toString()).isEqualTo(prediction.toJson());
        assertThat(json.get("failed").get(missing.toString()).asString()).isNotEmpty();
        assertThat(parse(report.toJson()).get("folds").get(0).get("metrics"))
                .isEqualTo(JsonText.tree(report.folds().getFirst().metrics()));
    }
}
