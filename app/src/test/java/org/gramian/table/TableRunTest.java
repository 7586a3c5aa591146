package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.run.RunPlan;
import org.gramian.run.UnfitDataException;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.table.ResultTable.Numbers;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.TrainingContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableRunTest {
    private static final Settings COMMON = Settings.NONE
            .with("network.backbone", "filters")
            .with("data.crops", CropPlan.parse("center:16"))
            .with("data.protocol", Protocol.parse("kfold:2"))
            .with("stage1.epochs", 2)
            .with("stage1.refit", "none")
            .with("stage2.epochs", 0)
            .with("optimizer.batch", 4);

    private static final String ROWS = "average,cov=pca:4/covariance/triu";

    @TempDir
    private Path root = Path.of("");

    private List<TableRun.Data> data = List.of();

    @BeforeEach
    void paint() throws IOException {
        data = List.of(data("first", 6, 6));
    }

    private TableRun.Data data(String name, int... counts) throws IOException {
        Path place = root.resolve(name);
        return new TableRun.Data(name, place, PaintedImages.folders(place, counts));
    }

    private static TableRun.Plan plan(List<TableRow> rows, Settings common) {
        return new TableRun.Plan(rows, common, Optional.empty());
    }

    private static TableRun.Plan plan(String rows) {
        return plan(TableRow.parse(rows), COMMON);
    }

    private TableRun prepared(TableRun.Plan plan) throws IOException, InterruptedException {
        WeightStore none = new WeightStore(root.resolve("weights"));
        TableRun run = new TableRun(plan, data, root.resolve("table"), none, Optional.empty());
        run.prepare(context(_ -> {}, Cancellation.onRequest()));
        return run;
    }

    private TableRun trained(TableRun.Plan plan) throws IOException, InterruptedException {
        TableRun run = prepared(plan);
        for (TableRun.Entry entry : run.due()) {
            run.train(entry, root.resolve("features"), context(_ -> {}, Cancellation.onRequest()));
        }
        return run;
    }

    private static ResultTable table(TableRun run) {
        return run.table(Throwable::toString);
    }

    private static TrainingContext context(Consumer<TrainEvent> listener, Cancellation cancellation) {
        return TrainingContext.of(Device.CPU)
                .withThreads(2)
                .withListener(listener)
                .withCancellation(cancellation)
                .withCheckpointing(Checkpointing.every(Duration.ofDays(1)));
    }

    /** Whether each row is finished; empty if it failed. */
    private static List<Optional<Boolean>> finished(TableRun run) {
        return run.entries().stream()
                .map(entry -> entry.failure().isPresent() ? Optional.<Boolean>empty() : Optional.of(entry.isFinished()))
                .toList();
    }

    private static Numbers numbers(TableRun run, int index) {
        return table(run).results().get(index).numbers().orElseThrow();
    }

    @Test
    void rowsShareFoldsAndFeaturesAndAreComparedWithBaseline() throws IOException, InterruptedException {
        TableRun run = prepared(plan(ROWS));
        List<Set<String>> features = new ArrayList<>();
        for (TableRun.Entry entry : run.due()) {
            run.train(entry, root.resolve("features"), context(_ -> {}, Cancellation.onRequest()));
            features.add(files(root.resolve("features")));
        }
        assertThat(features.get(0)).isNotEmpty().isEqualTo(features.get(1));
        List<TableRun.Entry> entries = run.entries();
        assertThat(entries)
                .extracting(TableRun.Entry::folder)
                .containsExactly(root.resolve("table/first/average"), root.resolve("table/first/cov"));
        RunPlan first = entries.get(0).plan().orElseThrow();
        RunPlan second = entries.get(1).plan().orElseThrow();
        assertThat(second.fingerprint()).isEqualTo(first.fingerprint());
        assertThat(second.content()).isEqualTo(first.content());
        assertThat(second.folds()).isEqualTo(first.folds());
        assertThat(second.config().get(TrainConfig.CROPS))
                .isEqualTo(first.config().get(TrainConfig.CROPS));
        Comparison expected = Comparison.of(
                EvaluationFile.readAll(entries.get(1).folder()),
                EvaluationFile.readAll(entries.get(0).folder()));
        assertThat(numbers(run, 1).against()).hasValue(expected);
        assertThat(numbers(run, 0).against()).isEmpty();
        assertThat(table(run).results().get(1).size()).hasValue(new ResultTable.Size(10, 2 * 10 + 2));
        TableRun again = prepared(plan(ROWS));
        assertThat(again.due()).as("finished rows are not trained again").isEmpty();
        assertThat(table(again)).isEqualTo(table(run));
        assertThat(prepared(plan(ROWS + ",max=conv:4/covariance/triu")).due()).hasSize(1);
    }

    private static Set<String> files(Path folder) throws IOException {
        Set<String> files = new TreeSet<>();
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path path : found.filter(Files::isRegularFile).toList()) {
                files.add(path + " " + Files.size(path));
            }
        }
        return files;
    }

    @Test
    void resumedTableEqualsUninterruptedTable() throws IOException, InterruptedException {
        TableRun broken = prepared(plan(ROWS));
        Cancellation cancellation = Cancellation.onRequest();
        long[] steps = {0};
        TrainingContext context = context(
                event -> {
                    if (event instanceof Stepped _ && ++steps[0] == 3) {
                        cancellation.cancel();
                    }
                },
                cancellation);
        TableRun.Entry first = broken.due().getFirst();
        assertThat(broken.train(first, root.resolve("features"), context).isFinished())
                .isFalse();
        assertThat(broken.entries()).extracting(entry -> entry.folds().size()).containsExactly(1, 0);
        assertThat(table(broken).results()).allMatch(one -> one.numbers().isEmpty());
        trained(plan(ROWS));
        List<byte[]> resumed = models();
        Files.move(root.resolve("table"), root.resolve("resumed"));
        trained(plan(ROWS));
        assertThat(models()).usingElementComparator(Arrays::compare).isEqualTo(resumed);
    }

    private List<byte[]> models() throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (String fold : List.of("average/fold-1", "average/fold-2", "cov/fold-1", "cov/fold-2")) {
            all.add(Files.readAllBytes(root.resolve("table/first").resolve(fold).resolve("model.safetensors")));
        }
        return all;
    }

    @Test
    void failingRowDoesNotEndOthers() throws IOException, InterruptedException {
        List<TableRow> rows =
                new ArrayList<>(TableRow.parse("large=pca:4/covariance/spd:9/triu,average,axes=average/pca:8"));
        rows.add(TableRow.parse("absent=average").getFirst().with("network.backbone", "squeezenet"));
        rows.add(TableRow.parse("huge=conv:20000/bilinear/flat")
                .getFirst()
                .with("network.classifier", "svm")
                .with("stage1.epochs", "0"));
        TableRun.Plan plan = plan(rows, COMMON.with("data.crops", CropPlan.parse("center:32")));
        TableRun run = trained(plan);
        assertThat(finished(run))
                .containsExactly(
                        Optional.empty(), Optional.of(true), Optional.empty(), Optional.empty(), Optional.empty());
        List<Throwable> failures = run.failures();
        assertThat(failures.get(0)).has(facts("spd:9", "4"));
        assertThat(failures.get(1)).hasMessageContaining("pca:8");
        assertThat(failures.get(2)).isInstanceOf(MissingWeightsException.class);
        assertThat(failures.get(3)).has(facts("descriptors"));
    }

    @Test
    void rejectsUnfitDataAndOtherConfiguration() throws IOException, InterruptedException {
        List<TableRow> rows = TableRow.parse("average");
        assertThatThrownBy(() -> prepared(plan(rows, COMMON.with("data.protocol", Protocol.parse("kfold:9")))))
                .isInstanceOf(UnfitDataException.class);
        trained(plan("average"));
        assertThatThrownBy(() -> prepared(plan(rows, COMMON.with("stage1.epochs", 3))))
                .isInstanceOf(IOException.class)
                .has(facts("stage1.epochs", "3", "2"));
        data = List.of(data("first", 6, 7));
        assertThatThrownBy(() -> prepared(plan("average")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("fingerprint");
    }

    @Test
    void datasetIsColumn() throws IOException, InterruptedException {
        data = List.of(data("first", 6, 6), data("second", 5, 6, 7));
        TableRun run = trained(plan(ROWS));
        assertThat(table(run).results())
                .extracting(one -> one.column().title())
                .containsExactly("first", "second", "first", "second");
        assertThat(table(run).results().get(0).column().fingerprint())
                .isNotEqualTo(table(run).results().get(1).column().fingerprint());
        assertThat(table(run).sections()).hasSize(3);
        for (int column = 0; column < 2; column++) {
            Numbers first = numbers(run, column);
            Numbers second = numbers(run, 2 + column);
            int order =
                    Double.compare(first.accuracy().mean(), second.accuracy().mean());
            assertThat(first.best()).isEqualTo(order >= 0);
            assertThat(second.best()).isEqualTo(order <= 0);
        }
    }

    @Test
    void remarksExplainSolvedRowsAndStages() throws IOException, InterruptedException {
        List<TableRow> rows = new ArrayList<>(TableRow.parse("average,near=average,blind=conv:4/covariance/triu"));
        rows.set(0, rows.get(0).with("stage2.epochs", "1"));
        rows.set(1, rows.get(1).with("network.classifier", "mean"));
        rows.set(2, rows.get(2).with("network.classifier", "mean"));
        TableRun run = trained(plan(rows, COMMON));
        assertThat(finished(run)).containsOnly(Optional.of(true));
        assertThat(table(run).hasSecondStage()).isTrue();
        assertThat(table(run).remarks())
                .satisfiesExactly(
                        epochs -> assertThat(epochs).has(facts("stage1.epochs=2", "near", "blind")),
                        pooling -> assertThat(pooling).has(facts("blind")));
    }
}
