package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.Sample.Box;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What images and classes do to a run: those that it cannot use, and others than it was begun with. */
class RunImagesTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallRun run = new SmallRun(folder);

    @BeforeEach
    void paint() throws IOException {
        run = SmallRun.in(folder);
    }

    private static Stream<String> taking(RunPlan plan) {
        return plan.folds().stream()
                .map(FoldPlan::parts)
                .flatMap(parts -> Stream.of(parts.training(), parts.validation(), parts.test()))
                .flatMap(List::stream)
                .map(Sample::name)
                .distinct();
    }

    private void requireLeftOut(String name, Problem problem) throws IOException, InterruptedException {
        AuditReport audit = run.trainer().audit();
        assertThat(audit.unreadable()).singleElement().satisfies(lost -> {
            assertThat(lost.image().name()).isEqualTo(name);
            assertThat(lost.problem()).isEqualTo(problem);
        });
        assertThat(taking(run.trainer().plan(audit))).hasSize(11).doesNotContain(name);
        assertThat(run.train(List.of()).folds()).hasSize(2);
    }

    private void drawALine() throws IOException {
        ImageIO.write(
                new BufferedImage(40, 1, BufferedImage.TYPE_INT_RGB),
                "png",
                run.dataset().samples().get(3).file().toFile());
    }

    @Test
    void tooThinImageIsLeftOut() throws IOException, InterruptedException {
        drawALine();
        requireLeftOut("c0/3.png", Problem.TOO_THIN);
    }

    @Test
    void thinImageIsUsedIfCropsDoNotKeepTheAspect() throws IOException, InterruptedException {
        drawALine();
        run = run.with("data.crops", CropPlan.parse("resize:16"));
        assertThat(taking(run.plan())).hasSize(12);
        assertThat(run.train(List.of()).audit().unreadable()).isEmpty();
    }

    private Dataset boxedBut(int without) {
        List<Sample> samples = new ArrayList<>(run.dataset().samples().stream()
                .map(one -> new Sample(one.name(), one.label(), one.file(), Optional.of(new Box(2, 2, 16, 16))))
                .toList());
        samples.set(without, run.dataset().samples().get(without));
        return new Dataset(folder, run.dataset().classes(), samples);
    }

    @Test
    void imageWithoutBoxIsLeftOutOfBoxCrops() throws IOException, InterruptedException {
        run = run.of(boxedBut(8)).with("data.crops", CropPlan.parse("center:16+box"));
        requireLeftOut("c1/2.png", Problem.NO_BOX);
    }

    @Test
    void classWithoutUsableImagesIsNamed() {
        run = run.with("data.crops", CropPlan.parse("center:16+box"));
        assertThatThrownBy(run::plan)
                .isInstanceOf(UnfitDataException.class)
                .hasMessageContaining("'c0', 'c1'")
                .has(facts("c0/0.png", "box"));
    }

    private Dataset called(List<String> classes) {
        return new Dataset(folder, classes, run.dataset().samples());
    }

    @Test
    void classWithoutNameIsRefusedBeforeTheAudit() {
        List<TrainEvent> events = new ArrayList<>();
        TrainingRun trainer = run.of(called(List.of(" ", "c1"))).trainer(events::add, Cancellation.onRequest());
        assertThatThrownBy(trainer::audit)
                .isInstanceOf(UnfitDataException.class)
                .has(facts("class"));
        assertThat(events).isEmpty();
    }

    @Test
    void finishedRunOfOtherImagesIsRefused() throws IOException, InterruptedException {
        run.train(List.of());
        PaintedImages.paint(run.dataset().samples().getFirst().file(), 0, 12345);
        assertThatThrownBy(() -> run.train(List.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("model.safetensors");
    }

    @Test
    void interruptedRunDoesNotResumeWithOtherImages() throws IOException, InterruptedException {
        run.trainOneStep();
        PaintedImages.paint(run.dataset().samples().getFirst().file(), 0, 12345);
        assertThatThrownBy(() -> run.train(List.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("checkpoint.safetensors");
    }

    @Test
    void interruptedRunDoesNotResumeWithOtherClassesOrBoxes() throws IOException, InterruptedException {
        run.trainOneStep();
        for (Dataset other : List.of(called(List.of("c0", "c2")), boxedBut(0))) {
            assertThatThrownBy(() -> run.of(other).train(List.of()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("checkpoint.safetensors");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pca:4/average/l2", "pca:4/rbf:sigma=estimate/triu/root/l2", "rbf:sigma=estimate/triu/l2"})
    void fittedPoolingIsTrained(String pooling) throws IOException, InterruptedException {
        run = run.with("network.pooling", pooling);
        assertThat(run.train(List.of("1")).folds()).hasSize(1);
    }
}
