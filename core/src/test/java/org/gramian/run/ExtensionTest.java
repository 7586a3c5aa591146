package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.TrainingContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs of 2 classes of 8 painted images, extended by a third class and more images of the first. */
class ExtensionTest {
    private static final Settings SETTINGS = Settings.NONE
            .with("network.backbone", "filters")
            .with("data.crops", CropPlan.parse("center:16"))
            .with("network.pooling", "average")
            .with("network.classifier", "lda")
            .with("data.protocol", Protocol.parse("holdout:0.25"))
            .with("gallery", false);

    @TempDir
    private static Path trained = Path.of("");

    @TempDir
    private Path folder = Path.of("");

    private final List<TrainEvent> events = new ArrayList<>();

    @BeforeAll
    static void trainOnce() throws IOException, InterruptedException {
        PaintedImages.folders(trained.resolve("images"), 8, 8);
        trainer(trained, trained.resolve("images"), SETTINGS, _ -> {}).train(trained.resolve("run"));
    }

    /** Copies the run with its images and cache. */
    @BeforeEach
    void paintImages() throws IOException {
        try (Stream<Path> files = Files.walk(trained)) {
            for (Path file : files.skip(1).toList()) {
                Files.copy(file, folder.resolve(trained.relativize(file)));
            }
        }
        for (int i = 0; i < 8; i++) {
            for (String name : List.of("c0", "c2")) {
                Path file = folder.resolve("more/" + name + "/new" + i + ".png");
                Files.createDirectories(file.resolveSibling(""));
                PaintedImages.paint(file, name.charAt(1) - '0', 500 * (1 + name.charAt(1)) + i);
            }
        }
    }

    private static TrainingRun trainer(Path folder, Path images, Settings settings, Consumer<TrainEvent> listener)
            throws IOException {
        return TrainingRun.of(Layouts.open(images, settings.find(TrainConfig.LAYOUT)))
                .with(settings)
                .with(new WeightStore(folder.resolve("weights")), Optional.of(folder.resolve("cache")))
                .with(TrainingContext.of(Device.CPU).withListener(listener));
    }

    private TrainingRun trainer(Path images, Settings settings) throws IOException {
        return trainer(folder, images, settings, events::add);
    }

    private Path run() {
        return folder.resolve("run");
    }

    private void clearCache() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("cache"))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    private Path train(Settings settings) throws IOException, InterruptedException {
        Path run = folder.resolve("other");
        trainer(folder.resolve("images"), settings).train(run);
        return run;
    }

    private Extension extension(Path run) throws IOException {
        return new Extension(trainer(folder.resolve("images"), new ExistingRun(run).settings()), run);
    }

    private Path extend(Path run, String images, String name) throws IOException, InterruptedException {
        Path out = folder.resolve(name);
        Dataset more = Layouts.openAdded(folder.resolve(images), Optional.empty());
        Extension.Prepared prepared = extension(run).prepare(more, out);
        prepared.trainer().train(prepared.plan(), prepared.audit(), out);
        return out;
    }

    private static ModelCard card(Path run) throws IOException {
        return ModelFile.header(run.resolve(ModelFile.NAME)).card();
    }

    @ParameterizedTest
    @ValueSource(strings = {"lda", "svm", "mean"})
    void extendedRunEqualsTrainingAnew(String classifier) throws IOException, InterruptedException {
        Path out = extend(train(SETTINGS.with("network.classifier", classifier)), "more", "extended");
        Settings settings = new ExistingRun(out).settings();
        Path anew = folder.resolve("anew");
        trainer(out.resolve(Extension.IMAGES), settings)
                .with(new WeightStore(folder.resolve("weights")), Optional.empty())
                .train(anew);
        assertThat(EvaluationFile.read(out.resolve(EvaluationFile.FILE)))
                .isEqualTo(EvaluationFile.read(anew.resolve(EvaluationFile.FILE)));
        assertThat(card(out).openSet())
                .usingRecursiveComparison()
                .isEqualTo(card(anew).openSet());
        assertThat(card(out).openSet()).isPresent();
        assertThat(card(out).classes()).containsExactly("c0", "c1", "c2");
    }

    @Test
    void onlyNewFeaturesAreComputed() throws IOException, InterruptedException {
        clearCache();
        Path run = train(SETTINGS);
        int before = steps();
        extension(run).prepare(Layouts.open(folder.resolve("more")), folder.resolve("extended"));
        assertThat(before).isGreaterThanOrEqualTo(16); // images of the run
        assertThat(steps() - before).isBetween(16, 16 + 4); // new images, and the ends of the parts
    }

    /** Returns the number of steps of the computation of features. */
    private int steps() {
        return (int) events.stream()
                .filter(event -> event instanceof TrainEvent.Task(String name, long _, long _)
                        && name.equals("training features"))
                .count();
    }

    @Test
    void searchedPoolingIsKept() throws IOException, InterruptedException {
        Path run = train(SETTINGS.with("network.pooling", "auto"));
        String pooling = new FoldFolder(run).candidates().orElseThrow().best().pooling();
        Path out = extend(run, "more", "extended");
        assertThat(new ExistingRun(out).settings().get(TrainConfig.POOLING)).isEqualTo(pooling);
        assertThat(new FoldFolder(out).candidates()).isEmpty();
    }

    @Test
    void oldImagesStayInTheirPart() throws IOException, InterruptedException {
        Path run = run();
        Path out = extend(run, "more", "extended");
        List<String> before = tested(run);
        assertThat(tested(out)).containsAll(before).hasSize(before.size() + 4);
        Map<String, String> origin = card(run).origin();
        assertThat(card(out).origin())
                .containsEntry("extended.fingerprint", origin.get("fingerprint"))
                .containsEntry("extended.images", origin.get("images"))
                .containsEntry("added.images", "16 images of 2 classes");
    }

    private static List<String> tested(Path run) throws IOException {
        return EvaluationFile.read(run.resolve(EvaluationFile.FILE)).predictions().stream()
                .map(one -> one.name().replaceFirst("^images/", ""))
                .toList();
    }

    @Test
    void extendedRunCanBeExtended() throws IOException, InterruptedException {
        Path first = extend(run(), "more", "extended");
        PaintedImages.folders(folder.resolve("third/set"), 4);
        Files.move(folder.resolve("third/set/c0"), folder.resolve("third/set/c3"));
        Path out = folder.resolve("again");
        TrainingRun trainer = trainer(first.resolve(Extension.IMAGES), new ExistingRun(first).settings());
        Extension.Prepared prepared = new Extension(trainer, first)
                .prepare(Layouts.openAdded(folder.resolve("third/set"), Optional.empty()), out);
        assertThat(prepared.plan().dataset().classes()).containsExactly("c0", "c1", "c2", "c3");
    }

    @Test
    void duplicateOfTestImageIsTested() throws IOException, InterruptedException {
        Path run = run();
        String tested = tested(run).getFirst();
        Files.copy(folder.resolve("images/" + tested), folder.resolve("more/c2/copy.png"));
        assertThat(tested(extend(run, "more", "extended"))).contains("more/c2/copy.png");
    }

    @ParameterizedTest
    @CsvSource({
        "network.classifier, softmax, trained by epochs",
        "stage2.epochs, 1, trained by epochs",
        "data.protocol, kfold:2, 2 folds"
    })
    void rejectsOtherRuns(String key, String value, String reason) throws IOException, InterruptedException {
        Settings settings = SETTINGS.with("data.validation", 0.2).with(key, value);
        Path run = train(key.equals("network.classifier") ? settings.with("stage1.epochs", 1) : settings);
        assertThatThrownBy(() -> extend(run, "more", "extended"))
                .hasMessageContaining("cannot be extended")
                .hasMessageContaining(reason)
                .hasMessageContaining("train anew");
        assertThat(folder.resolve("extended")).doesNotExist();
    }

    @Test
    void rejectsUnfitImages() throws IOException, InterruptedException {
        Path run = run();
        assertThatThrownBy(() -> extend(run, "images", "extended"))
                .hasMessageContaining("expected new images")
                .hasMessageContaining("c0/0.png");

        for (int i = 1; i < 8; i++) {
            Files.delete(folder.resolve("more/c2/new" + i + ".png"));
        }
        assertThatThrownBy(() -> extend(run, "more", "extended"))
                .isInstanceOf(UnfitDataException.class)
                .hasMessageContaining("holdout:0.25")
                .hasMessageContaining("c2");
    }

    @Test
    void rejectsMissingFeaturesAndChangedImages() throws IOException, InterruptedException {
        Path run = run();
        clearCache();
        assertThatThrownBy(() -> extend(run, "more", "extended"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not in the cache")
                .hasMessageContaining("train anew");
        assertThat(folder.resolve("extended")).doesNotExist();

        Files.delete(folder.resolve("images/c0/0.png"));
        assertThatThrownBy(() -> extend(run, "more", "extended")).hasMessageContaining("changed since");
    }
}
