package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What labels become before the loss sees them. */
class TargetsTest {
    private static final Offset<Double> ROUNDING = Offset.offset(1e-5);

    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    /** A training set of two to nine classes, each with at least one image. */
    private static long[] counts(SplittableRandom random) {
        return random.longs(2 + random.nextInt(8), 1, 200).toArray();
    }

    private static int[] labels(SplittableRandom random, int classes) {
        return random.ints(1 + random.nextInt(20), 0, classes).toArray();
    }

    private static Targets targets(SplittableRandom random, long[] counts) {
        ClassWeights weights = random.nextBoolean() ? ClassWeights.NONE : ClassWeights.BALANCED;
        return Targets.of(new Recipe.Loss(random.nextDouble(0.9), weights), counts);
    }

    @RandomTest
    void aRowSumsToTheWeightOfItsClassAndIsLargestThere(Seed seed) {
        SplittableRandom random = seed.random();
        long[] counts = counts(random);
        Targets targets = targets(random, counts);
        int[] labels = labels(random, counts.length);
        float[] rows = targets.rows(labels, Device.CPU).toFloats();
        for (int i = 0; i < labels.length; i++) {
            float[] row = Arrays.copyOfRange(rows, i * counts.length, (i + 1) * counts.length);
            double sum = 0;
            for (int c = 0; c < row.length; c++) {
                sum += row[c];
                assertThat(row[c]).as("class %d", c).isLessThanOrEqualTo(row[labels[i]]);
            }
            assertThat(sum).isCloseTo(targets.weight(labels[i]), ROUNDING);
        }
    }

    @RandomTest
    void balancedWeightsHaveMeanOne(Seed seed) {
        long[] counts = counts(seed.random());
        Targets targets = Targets.of(new Recipe.Loss(0, ClassWeights.BALANCED), counts);
        double sum = 0;
        for (int c = 0; c < counts.length; c++) {
            double part = counts[c] * targets.weight(c);
            sum += part;
            assertThat(part).isCloseTo(counts[0] * targets.weight(0), Offset.offset(1e-9 * part));
        }
        double images = Arrays.stream(counts).sum();
        assertThat(sum / images).isCloseTo(1, Offset.offset(1e-12));
    }

    @Test
    void smoothingIsThePublishedFormula() {
        Targets targets = Targets.of(new Recipe.Loss(0.2, ClassWeights.NONE), new long[] {7, 1, 0, 2});
        assertThat(targets.rows(new int[] {1}, Device.CPU).toDoubles())
                .containsExactly(new double[] {0.05, 0.85, 0.05, 0.05}, Offset.offset(1e-7));
        assertThat(targets.classes()).isEqualTo(4);
    }

    @Test
    void balancedWeightsNameAnEmptyClass() {
        assertRejected(() -> Targets.of(new Recipe.Loss(0, ClassWeights.BALANCED), new long[] {3, 0, 5}), "0", "1");
    }
}
