package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TsneTest {
    private static List<float[]> groups(int groups, int each, double distance) {
        SplittableRandom random = new SplittableRandom(7);
        List<float[]> vectors = new ArrayList<>();
        for (int i = 0; i < groups * each; i++) {
            float[] vector = new float[20];
            for (int k = 0; k < vector.length; k++) {
                vector[k] = (float) (random.nextGaussian() + (k == i % groups ? distance : 0));
            }
            vectors.add(vector);
        }
        return vectors;
    }

    private static double[][] map(List<float[]> vectors, Tsne way) {
        double[][] squares = PrincipalComponents.squaredDistances(vectors);
        return way.embed(squares, PrincipalComponents.of(squares).points());
    }

    @Test
    void conditionalProbabilitiesHavePerplexity() {
        double[][] squares = PrincipalComponents.squaredDistances(groups(3, 20, 10));
        for (double perplexity : new double[] {2, 5, 15.5}) {
            for (int i = 0; i < squares.length; i++) {
                double[] row = Tsne.conditional(squares[i], i, perplexity);
                double entropy = Arrays.stream(row)
                        .filter(p -> p > 0)
                        .map(p -> -p * Math.log(p))
                        .sum();
                assertThat(Math.exp(entropy)).isCloseTo(perplexity, within(1e-6));
                assertThat(Arrays.stream(row).sum()).isCloseTo(1, within(1e-12));
            }
        }
    }

    @Test
    void gradientIsThatOfDivergence() {
        double[][] affinities = Tsne.affinities(PrincipalComponents.squaredDistances(groups(3, 5, 4)), 4);
        SplittableRandom random = new SplittableRandom(1);
        double[][] points = new double[affinities.length][2];
        for (double[] point : points) {
            point[0] = random.nextGaussian();
            point[1] = random.nextGaussian();
        }
        double[][] gradient = Tsne.gradient(affinities, points, 1);
        double step = 1e-5;
        for (int i = 0; i < points.length; i++) {
            for (int axis = 0; axis < 2; axis++) {
                double before = points[i][axis];
                points[i][axis] = before + step;
                double above = divergence(affinities, points);
                points[i][axis] = before - step;
                double below = divergence(affinities, points);
                points[i][axis] = before;
                assertThat(gradient[i][axis]).isCloseTo((above - below) / (2 * step), within(1e-8));
            }
        }
    }

    /** The Kullback-Leibler divergence {@code sum p_ij log(p_ij / q_ij)}. */
    private static double divergence(double[][] affinities, double[][] points) {
        double total = 0;
        for (double[] one : points) {
            for (double[] other : points) {
                double distance = Math.hypot(one[0] - other[0], one[1] - other[1]);
                total += one == other ? 0 : 1 / (1 + distance * distance);
            }
        }
        double sum = 0;
        for (int i = 0; i < points.length; i++) {
            for (int j = 0; j < points.length; j++) {
                if (affinities[i][j] > 0) {
                    double distance = Math.hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]);
                    sum += affinities[i][j] * Math.log(affinities[i][j] * total * (1 + distance * distance));
                }
            }
        }
        return sum;
    }

    @Test
    void clustersAreSeparated() {
        int groups = 5;
        double[][] map = map(groups(groups, 24, 12), Tsne.DEFAULT);
        for (int i = 0; i < map.length; i++) {
            double within = 0;
            double nearest = Double.POSITIVE_INFINITY;
            for (int j = 0; j < map.length; j++) {
                double distance = Math.hypot(map[i][0] - map[j][0], map[i][1] - map[j][1]);
                if (i % groups == j % groups) {
                    within = Math.max(within, distance);
                } else {
                    nearest = Math.min(nearest, distance);
                }
            }
            assertThat(within).as("the farthest of its own group").isLessThan(nearest);
        }
    }

    @Test
    void seedDeterminesMap() {
        List<float[]> vectors = new ArrayList<>(groups(2, 10, 5));
        vectors.add(vectors.getFirst().clone());
        double[][] map = map(vectors, Tsne.DEFAULT);
        assertThat(map).isDeepEqualTo(map(vectors, Tsne.DEFAULT));
        assertThat(map[0]).isNotEqualTo(map[20]);
        assertThat(Arrays.stream(map).flatMapToDouble(Arrays::stream)).allMatch(Double::isFinite);
    }

    @Test
    void degenerateInputGivesFiniteMaps() {
        for (int n : new int[] {1, 2, 3, 4, 7}) {
            List<float[]> equal = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                equal.add(new float[] {1, 2, 3});
            }
            assertThat(Arrays.stream(map(equal, Tsne.DEFAULT)).flatMapToDouble(Arrays::stream))
                    .hasSize(2 * n)
                    .allMatch(Double::isFinite);
        }
        assertThatThrownBy(() -> PrincipalComponents.squaredDistances(List.of(new float[] {1}, new float[] {1, 2})))
                .has(facts("1", "2"));
        assertThatThrownBy(() -> PrincipalComponents.squaredDistances(List.of(new float[] {Float.NaN})))
                .has(facts("NaN"));
    }
}
