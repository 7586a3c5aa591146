package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.junit.jupiter.api.Test;

class ScoringTest {
    private static final Unreadable BROKEN = new Unreadable(Problem.CORRUPT, "broken");

    /** Twenty images, of which the fourth cannot be read. */
    private static ReadResult read(Path file) {
        int number = Integer.parseInt(file.toString());
        return number == 3
                ? BROKEN
                : new ReadResult.Readable(
                        TinyModel.image(number, 60 + number, 70),
                        new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 60 + number, 70, 1));
    }

    private static final List<Sample> SAMPLES = IntStream.range(0, 20)
            .mapToObj(i -> new Sample("picture " + i, 0, Path.of(String.valueOf(i))))
            .toList();

    @Test
    void onePassForBothKindsGivesTheRowsOfAPassForEach() {
        ModelCard card = TinyModel.card("paper:48");
        try (Model model = TinyModel.of(5)) {
            Scoring scoring = Scoring.of(model, card, ScoringTest::read);
            Map<Integer, Map<Engine.Rows, float[][]>> both = new HashMap<>();
            Map<Integer, Unreadable> problems = new HashMap<>();
            scoring.run(SAMPLES, Set.of(Engine.Rows.values()), collect(both, problems), _ -> {});

            assertThat(problems).isEqualTo(Map.of(3, BROKEN));
            for (Engine.Rows kind : Engine.Rows.values()) {
                Map<Integer, Map<Engine.Rows, float[][]>> alone = new HashMap<>();
                scoring.run(SAMPLES, Set.of(kind), collect(alone, new HashMap<>()), _ -> {});
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

    @Test
    void scoresThatAreNotFiniteAreNoAnswerAndSayWhichClass() {
        ModelCard card = TinyModel.card("paper:48");

        assertThat(Outcome.of(new float[][] {{1, Float.NaN, 2}}, card))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.reason()).has(facts("foliage", "NaN")));
        assertThat(Outcome.of(BROKEN)).isEqualTo(new Outcome.Failed("broken"));
        assertThat(Outcome.of(new float[][] {{1, 3, 2}}, card))
                .isEqualTo(new Outcome.Answered(Answer.of(Logits.of(1, 3, 2), card)));
    }

    private static PassSink collect(
            Map<Integer, Map<Engine.Rows, float[][]>> found, Map<Integer, Unreadable> problems) {
        return new PassSink() {
            @Override
            public void rows(int sample, Map<Engine.Rows, float[][]> rows) {
                found.put(sample, rows);
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                problems.put(sample, problem);
            }
        };
    }
}
