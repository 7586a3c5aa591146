package org.gramian.train.recipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.recipe.Schedule.Constant;
import org.gramian.train.recipe.Schedule.Cosine;
import org.gramian.train.recipe.Schedule.Plateau;
import org.gramian.train.recipe.Schedule.Steps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScheduleTest {
    private static Schedule any(SplittableRandom random) {
        return switch (random.nextInt(4)) {
            case 0 -> new Constant();
            case 1 -> new Cosine();
            case 2 ->
                new Steps(random.ints(random.nextInt(1, 5), 1, 40)
                        .distinct()
                        .sorted()
                        .boxed()
                        .toList());
            default -> new Plateau(random.nextInt(1, 5), random.nextInt(5));
        };
    }

    private static List<ValidationScore> anyPast(SplittableRandom random, int epochs) {
        List<ValidationScore> past = new ArrayList<>();
        for (int i = 0; i < epochs; i++) {
            past.add(new ValidationScore(random.nextInt(4) / 4.0, random.nextDouble()));
        }
        return past;
    }

    @RandomTest
    void factorsAreBetweenZeroAndOneAndNeverRise(Seed seed) {
        SplittableRandom random = seed.random();
        Schedule schedule = any(random);
        int epochs = random.nextInt(1, 30);
        List<ValidationScore> past = anyPast(random, epochs);
        double former = 1;
        for (int epoch = 0; epoch < epochs; epoch++) {
            for (double part : new double[] {0, 0.25, 0.75}) {
                double factor = schedule.factor(past.subList(0, epoch), epoch + part, epochs);
                assertThat(factor).as(schedule.text()).isPositive().isLessThanOrEqualTo(former);
                former = factor;
            }
        }
    }

    @RandomTest
    void scheduleRoundTripsThroughItsText(Seed seed) {
        Schedule schedule = any(seed.random());
        assertThat(Schedule.parse(schedule.text())).isEqualTo(schedule);
        assertThat(Schedule.parse(" " + schedule.text().toUpperCase(Locale.ROOT) + " "))
                .isEqualTo(schedule);
    }

    @RandomTest
    void cosineStartsAtOneAndEndsAtZero(Seed seed) {
        int epochs = 2 * seed.random().nextInt(1, 50);
        Schedule cosine = new Cosine();
        Offset<Double> rounding = Offset.offset(1e-12);
        assertThat(cosine.factor(List.of(), 0, epochs)).isEqualTo(1);
        assertThat(cosine.factor(List.of(), epochs / 2.0, epochs)).isCloseTo(0.5, rounding);
        assertThat(cosine.factor(List.of(), epochs, epochs)).isCloseTo(0, rounding);
        double late = epochs - 0.1;
        double early = 0.1;
        assertThat(cosine.factor(List.of(), late, epochs) + cosine.factor(List.of(), early, epochs))
                .isCloseTo(1, rounding);
    }

    @RandomTest
    void stepsDivideByTenAfterEachEpoch(Seed seed) {
        SplittableRandom random = seed.random();
        List<Integer> after = random.ints(3, 1, 20).distinct().sorted().boxed().toList();
        Schedule steps = new Steps(after);
        for (int epoch = 0; epoch < 25; epoch++) {
            int gone = epoch;
            long tenths = after.stream().filter(number -> number <= gone).count();
            assertThat(steps.factor(anyPast(random, epoch), epoch, 25))
                    .isCloseTo(Math.pow(10, (double) -tenths), Offset.offset(1e-12));
        }
    }

    /** The loss falls so many epochs, and then no more. */
    private static List<ValidationScore> falling(int epochs, int still) {
        return IntStream.range(0, epochs + still)
                .mapToObj(epoch -> new ValidationScore(0, 1.0 / (1 + Math.min(epoch, epochs - 1))))
                .toList();
    }

    @RandomTest
    void plateauDividesByTenAfterPatienceAndStopsAfterDrops(Seed seed) {
        SplittableRandom random = seed.random();
        int patience = random.nextInt(1, 5);
        int drops = random.nextInt(4);
        Plateau plateau = new Plateau(patience, drops);
        int progress = random.nextInt(1, 10);
        for (int still = 0; still < patience * (drops + 2); still++) {
            List<ValidationScore> past = falling(progress, still);
            int tenths = Math.min(drops, still / patience);
            assertThat(plateau.factor(past, past.size(), 100))
                    .as("%s after %d still epochs", plateau.text(), still)
                    .isCloseTo(Math.pow(10, -tenths), Offset.offset(1e-12));
            assertThat(plateau.ended(past)).isEqualTo(still / patience > drops);
        }
    }

    @Test
    void plateauRestartsAfterImprovement() {
        Plateau plateau = new Plateau(2, 0);
        List<ValidationScore> past = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            past.add(new ValidationScore(0, 1.0 / (1 + i)));
            past.add(new ValidationScore(1, 5));
            assertThat(plateau.ended(past)).isFalse();
        }
        past.add(new ValidationScore(1, 5));
        assertThat(plateau.ended(past)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''             | cosine
        cosin          | cosine
        constant:3     | constant
        cosine:        | cosine
        steps          | steps
        steps:         | steps:
        steps:1,       | steps
        steps:7,6      | 7 6
        steps:6,6      | 6 6
        steps:0,6      | 1 0
        steps:-1       | -1
        steps:99999999 | 99999999
        plateau:0      | 1 0
        plateau:1,-1   | 0 -1
        plateau:1.5    | 1.5
        plateau:1,2,3  | plateau[:PATIENCE[,DROPS]]
        """)
    void invalidScheduleIsRefused(String text, String wanted) {
        assertRejected(() -> Schedule.parse(text), (Object[]) wanted.split(" "));
    }
}
