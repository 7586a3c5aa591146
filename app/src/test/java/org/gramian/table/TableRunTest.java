package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import org.gramian.run.config.TrainConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.EvaluationFolder;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.linear.LinearSolver;
import org.gramian.run.RunPlan;
import org.gramian.run.UnfitDataException;
import org.gramian.run.config.Settings;
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
            .with("data.protocol", Protocols.parse("kfold:2"))
            .with("stage1.epochs", 2)
            .with("stage2.epochs", 0)
            .with("optimizer.batch", 4);

    private static final TableRun.Listener SILENT = new TableRun.Listener() {};

    @TempDir
    private Path root = Path.of("");

    private List<TableRun.Data> data = List.of();
    private final List<TrainEvent> events = new ArrayList<>();

    @BeforeEach
    void paint() throws IOException {
        data = List.of(data("first", 6, 6));
    }

    private TableRun.Data data(String name, int... counts) throws IOException {
        Path place = root.resolve(name);
        return new TableRun.Data(name, place, PaintedImages.folders(place, counts));
    }

    private static TableRun.Plan plan(String rows) {
        return plan(TableRow.parse(rows), COMMON);
    }

    private static TableRun.Plan plan(List<TableRow> rows, Settings common) {
        return new TableRun.Plan(
                rows,
                common,
                Optional.empty(),
                Set.copyOf(rows.stream().map(TableRow::name).toList()));
    }

    private static TableRun.Plan only(TableRun.Plan plan, String... rows) {
        return new TableRun.Plan(plan.rows(), plan.common(), plan.baseline(), Set.of(rows));
    }

    private TableRun run(TableRun.Plan plan) throws IOException, InterruptedException {
        WeightStore none = new WeightStore(root.resolve("weights"));
        TableRun run = new TableRun(plan, data, root.resolve("table"), none, Optional.empty());
        run.prepare(context(_ -> {}, Cancellation.onRequest()));
        return run;
    }

    private TableRun trained(TableRun.Plan plan) throws IOException, InterruptedException {
        TableRun run = run(plan);
        assertThat(run.train(context(events::add, Cancellation.onRequest()), SILENT))
                .isEmpty();
        return run;
    }

    private static TrainingContext context(Consumer<TrainEvent> listener, Cancellation breaks) {
        return TrainingContext.of(Device.CPU)
                .withThreads(2)
                .withListener(listener)
                .withCancellation(breaks)
                .withCheckpointing(Checkpointing.every(Duration.ofDays(1)));
    }

    /** Whether each row is finished; empty if it failed. */
    private static List<Optional<Boolean>> finished(TableRun run) {
        return run.entries().stream()
                .map(entry -> entry.failure().isPresent() ? Optional.<Boolean>empty() : Optional.of(entry.isFinished()))
                .toList();
    }

    private boolean steppedWhile(TableRun.Plan plan) throws IOException, InterruptedException {
        events.clear();
        trained(plan);
        return events.stream().anyMatch(event -> event instanceof Stepped _);
    }

    @Test
    void rowsShareFoldsAndAreComparedWithBaseline() throws IOException, InterruptedException {
        TableRun run = trained(plan("average,cov=pca:4/covariance/triu"));
        List<TableRun.Entry> entries = run.entries();
        assertThat(entries)
                .extracting(TableRun.Entry::folder)
                .containsExactly(root.resolve("table/first/average"), root.resolve("table/first/cov"));
        var first = entries.get(0).work().orElseThrow().plan();
        var second = entries.get(1).work().orElseThrow().plan();
        assertThat(second.fingerprint()).isEqualTo(first.fingerprint());
        assertThat(second.content()).isEqualTo(first.content());
        assertThat(second.folds()).isEqualTo(first.folds());
        assertThat(second.config().options()).isEqualTo(first.config().options());
        assertThat(root.resolve("table/.features")).as("gone with the table").doesNotExist();
        Comparison expected = Comparison.of(
                EvaluationFolder.read(entries.get(1).folder()),
                EvaluationFolder.read(entries.get(0).folder()));
        ResultTable.Cell cell = run.table().lines().get(1).cells().getFirst();
        assertThat(cell.numbers().orElseThrow().against()).hasValue(expected);
        assertThat(cell.size()).hasValue(new ResultTable.Size(10, 2 * 10 + 2));
        assertThat(cell.secondsPerEpoch()).isPresent();
        assertThat(run.table()
                        .lines()
                        .getFirst()
                        .cells()
                        .getFirst()
                        .numbers()
                        .orElseThrow()
                        .against())
                .as("the baseline is not held against itself")
                .isEmpty();
    }

    @Test
    void featuresAreSharedByAllRows() throws IOException, InterruptedException {
        TableRun run = run(plan("average,cov=pca:4/covariance/triu"));
        List<Set<String>> kept = new ArrayList<>();
        run.train(context(_ -> {}, Cancellation.onRequest()), new TableRun.Listener() {
            @Override
            public void ended(TableRun.Entry entry) throws IOException {
                kept.add(files(root.resolve("table/.features")));
            }
        });
        assertThat(kept).hasSize(2);
        assertThat(kept.get(0)).isNotEmpty().isEqualTo(kept.get(1));
    }

    private static Set<String> files(Path folder) throws IOException {
        Set<String> files = new HashSet<>();
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path path : found.filter(Files::isRegularFile).toList()) {
                files.add(path + " " + Files.size(path));
            }
        }
        return files;
    }

    @Test
    void finishedRowsAreNotTrainedAgain() throws IOException, InterruptedException {
        TableRun.Plan plan = plan("average,cov=pca:4/covariance/triu");
        ResultTable table = trained(plan).table();
        assertThat(steppedWhile(plan)).isFalse();
        assertThat(run(plan).table()).isEqualTo(table);
        assertThat(steppedWhile(plan("average,cov=pca:4/covariance/triu,max=conv:4/covariance/triu")))
                .as("a further row")
                .isTrue();
    }

    @Test
    void resumedTableEqualsUninterruptedTable() throws IOException, InterruptedException {
        TableRun.Plan plan = plan("average,cov=pca:4/covariance/triu");
        TableRun broken = run(plan);
        Cancellation breaks = Cancellation.onRequest();
        long[] steps = {0};
        Optional<Cancellation.Reason> early = broken.train(
                context(
                        event -> {
                            if (event instanceof Stepped _ && ++steps[0] == 3) {
                                breaks.cancel();
                            }
                        },
                        breaks),
                SILENT);
        assertThat(early).hasValue(Cancellation.Reason.CANCELLED);
        assertThat(broken.entries()).extracting(entry -> entry.folds().size()).containsExactly(1, 0);
        assertThat(broken.table().lines().getFirst().cells().getFirst().numbers())
                .isEmpty();
        trained(plan);
        List<byte[]> models = models();
        deleteRuns();
        trained(plan);
        assertThat(models()).usingElementComparator(Arrays::compare).isEqualTo(models);
    }

    private List<byte[]> models() throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (String row : List.of("average", "cov")) {
            for (String fold : List.of("fold-1", "fold-2")) {
                all.add(Files.readAllBytes(root.resolve("table/first/" + row + "/" + fold + "/model.safetensors")));
            }
        }
        return all;
    }

    private void deleteRuns() throws IOException {
        try (Stream<Path> found = Files.walk(root.resolve("table/first"))) {
            for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    @Test
    void onlySomeRowsCanBeTrained() throws IOException, InterruptedException {
        TableRun.Plan plan = plan("average,cov=pca:4/covariance/triu");
        TableRun run = trained(new TableRun.Plan(plan.rows(), COMMON, Optional.of("average"), Set.of("cov")));
        assertThat(finished(run)).containsExactly(Optional.of(false), Optional.of(true));
        assertThat(run.table()
                        .lines()
                        .get(1)
                        .cells()
                        .getFirst()
                        .numbers()
                        .orElseThrow()
                        .against())
                .as("the baseline is not there yet")
                .isEmpty();
        assertThat(run.table().remarks()).singleElement().has(facts("first", "average"));
        ResultTable open = run(only(plan, "cov")).table();
        assertThat(open.baseline()).as("the first that is finished").isEqualTo("cov");
        assertThat(open.remarks()).isEmpty();
        assertThat(finished(trained(only(plan, "average"))))
                .as("what is finished is shown")
                .containsExactly(Optional.of(true), Optional.of(true));
    }

    @Test
    void failingRowDoesNotEndOthers() throws IOException, InterruptedException {
        TableRun.Plan rows = plan("large=pca:4/covariance/spd:9/triu,average,absent=average");
        TableRun.Plan plan = new TableRun.Plan(
                List.of(
                        rows.rows().get(0),
                        rows.rows().get(1),
                        rows.rows().get(2).with("network.backbone", "squeezenet")),
                COMMON.with("data.crops", CropPlan.parse("center:32")),
                Optional.of("average"),
                rows.only());
        TableRun run = trained(plan);
        assertThat(finished(run)).containsExactly(Optional.empty(), Optional.of(true), Optional.empty());
        assertThat(run.failures())
                .first()
                .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                .has(facts("spd:9", "4"));
        assertThat(run.failures()).last().isInstanceOf(MissingWeightsException.class);
        assertThat(run(only(plan, "average")).failures()).as("not requested").isEmpty();
    }

    @Test
    void rowWithTooFewImagesFailsAlone() throws IOException, InterruptedException {
        List<TableRow> rows = new ArrayList<>(TableRow.parse("average,axes=average/pca:8"));
        rows.add(TableRow.parse("large=conv:20000/bilinear/flat")
                .getFirst()
                .with("network.classifier", "svm")
                .with("stage1.epochs", "0"));
        TableRun run = trained(plan(rows, COMMON));
        assertThat(finished(run)).containsExactly(Optional.of(true), Optional.empty(), Optional.empty());
        assertThat(run.failures().get(0)).hasMessageContaining("pca:8");
        assertThat(run.failures().get(1)).has(facts("descriptors"));
    }

    @Test
    void rowUsesClassifierOfItsMethod() throws IOException, InterruptedException {
        Settings solving = Settings.NONE
                .with("network.backbone", "filters")
                .with("data.crops", COMMON.get(TrainConfig::crops))
                .with("data.protocol", COMMON.get(TrainConfig::protocol));
        assertThat(classifier(solving)).isEqualTo("svm");
        assertThat(classifier(solving.with("network.classifier", Optional.of(LinearSolver.parse("lda")))))
                .isEqualTo("lda");
    }

    private String classifier(Settings common) throws IOException, InterruptedException {
        RunPlan planned = run(plan(TableRow.parse("BOW"), common))
                .entries()
                .getFirst()
                .work()
                .orElseThrow()
                .plan();
        return planned.config().recipe().solver().orElseThrow().text();
    }

    @Test
    void rejectsImagesThatDoNotFitProtocol() {
        Settings tooMany = COMMON.with("data.protocol", Protocols.parse("kfold:9"));
        assertThatThrownBy(() -> run(plan(TableRow.parse("average"), tooMany))).isInstanceOf(UnfitDataException.class);
    }

    @Test
    void rejectsOtherConfigurationOrImages() throws IOException, InterruptedException {
        trained(plan("average"));
        TableRun.Plan longer = plan(TableRow.parse("average"), COMMON.with("stage1.epochs", 3));
        assertThatThrownBy(() -> run(longer)).isInstanceOf(IOException.class).has(facts("stage1.epochs", "3", "2"));
        data = List.of(data("first", 6, 7));
        assertThatThrownBy(() -> run(plan("average")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("fingerprint");
    }

    @Test
    void datasetIsColumn() throws IOException, InterruptedException {
        data = List.of(data("first", 6, 6), data("second", 5, 6, 7));
        TableRun run = trained(plan("average,cov=pca:4/covariance/triu"));
        ResultTable table = run.table();
        assertThat(table.columns()).extracting(ResultTable.Column::title).containsExactly("first", "second");
        assertThat(table.columns().get(0).fingerprint())
                .isNotEqualTo(table.columns().get(1).fingerprint());
        assertThat(table.lines())
                .allSatisfy(line -> assertThat(line.cells())
                        .hasSize(2)
                        .allSatisfy(cell -> assertThat(cell.numbers()).isPresent()));
        for (int column = 0; column < 2; column++) {
            int index = column;
            double best = table.lines().stream()
                    .map(line -> line.cells().get(index).numbers().orElseThrow())
                    .mapToDouble(numbers -> numbers.accuracy().mean())
                    .max()
                    .orElseThrow();
            assertThat(table.lines())
                    .allSatisfy(line -> assertThat(line.cells()
                                    .get(index)
                                    .numbers()
                                    .orElseThrow()
                                    .best())
                            .isEqualTo(line.cells()
                                            .get(index)
                                            .numbers()
                                            .orElseThrow()
                                            .accuracy()
                                            .mean()
                                    == best));
        }
        assertThat(table.common()).containsEntry("data.protocol", "kfold:2").doesNotContainKey("network.pooling");
        assertThat(table.lines().get(1).cells().get(0).own()).containsEntry("network.pooling", "pca:4/covariance/triu");
    }

    @Test
    void solvedRowsHaveRemark() throws IOException, InterruptedException {
        List<TableRow> rows = new ArrayList<>(TableRow.parse("average,near=average,blind=conv:4/covariance/triu"));
        rows.set(1, rows.get(1).with("network.classifier", "mean"));
        rows.set(2, rows.get(2).with("network.classifier", "mean"));
        TableRun run = trained(plan(rows, COMMON));
        assertThat(finished(run)).containsOnly(Optional.of(true));
        assertThat(run.table().remarks())
                .satisfiesExactly(
                        epochs -> assertThat(epochs).has(facts("stage1.epochs=2", "near", "blind")),
                        pooling -> assertThat(pooling).has(facts("blind")));
    }

    @Test
    void rejectsRepeatedFolder() {
        Path place = root.resolve("first");
        assertThatThrownBy(() -> TableRun.Data.open(List.of(place, root.resolve("first/../first")), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("first"));
    }

    @Test
    void stagesAreReportedSeparately() throws IOException, InterruptedException {
        TableRun.Plan plan = plan(
                TableRow.parse("average").stream()
                        .map(row -> row.with("stage2.epochs", "1"))
                        .toList(),
                COMMON);
        ResultTable table = trained(plan).table();
        assertThat(table.hasSecondStage()).isTrue();
    }
}
