package org.gramian.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Untrained models, on 70 small images. */
final class InspectorTest {
    private static final String FINGERPRINT = "ab".repeat(32);

    @TempDir
    Path folder;

    private SpdInspection inspect(String pooling, int images) throws IOException {
        return inspect(
                pooling,
                PaintedImages.folders(folder.resolve("p" + images), images / 2, images / 2)
                        .samples());
    }

    private static SpdInspection inspect(String pooling, List<Sample> samples) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        Backbone backbone = Backbone.of("filters");
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse(pooling), 2, false);
        Rendering rendering = new Rendering(
                new ImageReader(ImageLimits.DEFAULT)::read,
                CropPlan.parse("ten:16").testing(),
                backbone.preprocessing());
        try (Model model = Model.begin(backbone, filters, head, random, Device.CPU)) {
            List<Long> progress = new ArrayList<>();
            SpdInspection found = new Inspector(model, rendering, 2).inspect(samples, FINGERPRINT, progress::add);
            assertThat(progress).isSorted().last().isEqualTo((long) Math.min(64, samples.size()));
            return found;
        }
    }

    @Test
    void everyMatrixOfThePapersPathIsSeen() throws IOException {
        SpdInspection found = inspect("conv:6/rbf/spd:4/relu/triu/root/l2", 70);
        assertThat(found.model()).isEqualTo(FINGERPRINT);
        assertThat(found.stages())
                .extracting(MatrixStage::stage)
                .satisfiesExactly(
                        kernel -> assertThat(kernel).contains("rbf"),
                        spd -> assertThat(spd).has(facts("1", "spd:4")),
                        relu -> assertThat(relu).has(facts("2", "relu")));
        assertThat(found.stages()).extracting(MatrixStage::size).containsExactly(6, 4, 4);
        assertThat(found.stages()).extracting(MatrixStage::images).containsOnly(64);
        assertThat(found.channels().channels()).isEqualTo(6);
        MatrixStage kernel = found.stages().getFirst();
        assertThat(kernel.indefinite()).isZero();
        assertThat(kernel.effectiveRank().median()).isBetween(1.0, 6.0);
        for (MatrixStage stage : found.stages()) {
            assertThat(stage.eigenvalues()).allSatisfy(one -> {
                assertThat(one.low()).isLessThanOrEqualTo(one.median());
                assertThat(one.median()).isLessThanOrEqualTo(one.high());
            });
        }
    }

    /** Of matrices of 256 rows, 16 are decomposed. */
    @Test
    void largeMatricesAreOfImagesOfEveryClass() throws IOException {
        List<Sample> two = PaintedImages.folders(folder, 1, 1).samples();
        List<Sample> first = Collections.nCopies(40, two.getFirst());
        List<Sample> second = Collections.nCopies(40, two.getLast());
        String pooling = "conv:256/covariance/triu";
        MatrixStage stage = inspect(pooling, concat(first, second)).stages().getFirst();
        assertThat(stage.images()).isEqualTo(16);
        assertThat(stage.effectiveRank().low())
                .isLessThan(0.999 * stage.effectiveRank().high());
        assertThat(inspect(pooling, concat(second, first)).stages()).containsExactly(stage);
    }

    private static List<Sample> concat(List<Sample> first, List<Sample> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"average", "conv:4/max", "conv:4/gem"})
    void aPoolingWithoutMatricesHasNoStages(String pooling) throws IOException {
        SpdInspection found = inspect(pooling, 4);
        assertThat(found.stages()).isEmpty();
        assertThat(found.channels().images()).isEqualTo(4);
    }

    @Test
    void whatIsReadIsWhatWasWritten() throws IOException {
        SpdInspection found = inspect("conv:4/covariance/isqrt/triu", 4);
        Path file = folder.resolve(SpdInspection.FILE);
        found.write(file);
        assertThat(SpdInspection.read(file)).isEqualTo(found);
        String text = Files.readString(file);
        for (String wrong : List.of(
                "",
                "[]",
                "{}",
                "null",
                "{\"format\":\"gramian-spd\",\"version\":1,\"inspection\":null}",
                text.replace("gramian-spd", "fruit"),
                text.replace("\"version\" : 1", "\"version\" : 2"),
                text.replace("\"size\" : 4", "\"size\" : 5"),
                text.replace("\"dead\"", "\"alive\""))) {
            Files.writeString(file, wrong);
            assertThatThrownBy(() -> SpdInspection.read(file))
                    .as(wrong)
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith(file + ": ");
        }
    }
}
