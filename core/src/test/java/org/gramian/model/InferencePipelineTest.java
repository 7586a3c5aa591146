package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.Test;

class InferencePipelineTest {
    private static final Unreadable BROKEN = new Unreadable(Problem.CORRUPT, "broken");

    /** Twenty images, of which the fourth cannot be read. */
    private static ReadResult read(int number) {
        return number == 3
                ? BROKEN
                : new ReadResult.Readable(
                        TinyModel.image(number, 60 + number, 70),
                        new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 60 + number, 70, 1));
    }

    private static final List<ImageSource> IMAGES = IntStream.range(0, 20)
            .mapToObj(i -> ImageSource.of("image " + i, () -> read(i)))
            .toList();

    @Test
    void onePassGivesTheRowsOfAPassForEachKind() {
        ModelCard card = TinyModel.card("paper:48");
        try (Model model = TinyModel.of(5)) {
            model.setKnown(Optional.of(TinyModel.known(new SplittableRandom(5), 6, TinyModel.CLASSES.size())));
            InferencePipeline pipeline = new InferencePipeline(
                    Engine.of(model), card.crops().testing(), card.preprocessing(), InferencePipeline.DEFAULT_BATCH, 2);
            Map<Integer, Map<Engine.Rows, float[][]>> both = new HashMap<>();
            Map<Integer, Unreadable> problems = new HashMap<>();
            pipeline.run(IMAGES, Set.of(Engine.Rows.values()), collect(both, problems));

            assertThat(problems).isEqualTo(Map.of(3, BROKEN));
            for (Engine.Rows kind : Engine.Rows.values()) {
                Map<Integer, Map<Engine.Rows, float[][]>> alone = new HashMap<>();
                pipeline.run(IMAGES, Set.of(kind), collect(alone, new HashMap<>()));
                assertThat(alone).hasSize(19).containsOnlyKeys(both.keySet());
                alone.forEach((sample, rows) -> {
                    assertThat(rows).containsOnlyKeys(kind);
                    assertThat(Engine.rowsOf(Objects.requireNonNull(both.get(sample)), kind))
                            .hasNumberOfRows(card.crops().testing().count())
                            .isDeepEqualTo(Engine.rowsOf(rows, kind));
                });
            }
        }
    }

    /** 100,000 empty files took as long as images. */
    @Test
    void computesNothingForUnreadableImages() {
        ModelCard card = TinyModel.card("paper:48");
        Engine unused = (_, _, _) -> {
            throw new AssertionError("computed");
        };
        List<ImageSource> broken = Collections.nCopies(40, ImageSource.of("broken", () -> BROKEN));
        Map<Integer, Unreadable> problems = new HashMap<>();
        new InferencePipeline(unused, card.crops().testing(), card.preprocessing(), 8, 2)
                .run(broken, Set.of(Engine.Rows.SCORES), collect(new HashMap<>(), problems));
        assertThat(problems).hasSize(40);
    }

    @Test
    void scoresThatAreNotFiniteAreNoPredictionAndSayWhichClass() {
        ModelCard card = TinyModel.card("paper:48");

        assertThat(computed(1, Float.NaN, 2).predicted(card))
                .isInstanceOfSatisfying(ImageResult.Failed.class, failed -> {
                    assertThat(failed.reason()).has(facts("foliage", "NaN"));
                    assertThat(failed.kind()).isEqualTo(ImageResult.Failed.NOT_FINITE);
                });
        assertThat(ImageResult.Failed.of(BROKEN).reason()).isEqualTo("broken");
        assertThat(ImageResult.Failed.of(BROKEN).unreadable()).isEqualTo(BROKEN);
        assertThat(computed(1, 3, 2).predicted(card))
                .isInstanceOfSatisfying(
                        ImageResult.Computed.class,
                        computed ->
                                assertThat(computed.prediction()).contains(Prediction.of(Logits.of(1, 3, 2), card)));
    }

    private static ImageResult.Computed computed(float... scores) {
        return new ImageResult.Computed(Map.of(Engine.Rows.SCORES, new float[][] {scores}), Optional.empty());
    }

    private static ImageResult.Listener collect(
            Map<Integer, Map<Engine.Rows, float[][]>> found, Map<Integer, Unreadable> problems) {
        return (index, result) -> {
            switch (result) {
                case ImageResult.Computed computed -> found.put(index, computed.rows());
                case ImageResult.Failed failed -> problems.put(index, failed.unreadable());
            }
        };
    }
}
