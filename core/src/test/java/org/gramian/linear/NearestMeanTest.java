package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.gramian.tensor.Scope;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;

class NearestMeanTest {
    @RandomTest
    void scoresAreDistancesToTheMeans(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows = SyntheticRows.of(random, 20, random.nextInt(1, 30), 4);
        try (Scope _ = Scope.open()) {
            double[][] scores = rows.scores(rows.fit("mean"));
            double[][] distances = distances(rows);
            double unit = 0;
            for (int i = 0; i < rows.count(); i++) {
                unit += distances[i][rows.labels()[i]] / rows.count();
            }
            for (int i = 0; i < rows.count(); i++) {
                for (int c = 1; c < 4; c++) {
                    double expected = (distances[i][0] - distances[i][c]) / unit;
                    assertThat(scores[i][c] - scores[i][0])
                            .isCloseTo(expected, within(1e-4 * (1 + Math.abs(expected))));
                }
            }
        }
    }

    /** Squared, of each row to each mean. */
    private static double[][] distances(SyntheticRows rows) {
        double[][] means = new double[rows.classes()][rows.size()];
        int[] counts = new int[rows.classes()];
        for (int i = 0; i < rows.count(); i++) {
            counts[rows.labels()[i]]++;
            for (int j = 0; j < rows.size(); j++) {
                means[rows.labels()[i]][j] += rows.values()[i][j];
            }
        }
        double[][] distances = new double[rows.count()][rows.classes()];
        for (int i = 0; i < rows.count(); i++) {
            for (int c = 0; c < rows.classes(); c++) {
                for (int j = 0; j < rows.size(); j++) {
                    double off = rows.values()[i][j] - means[c][j] / counts[c];
                    distances[i][c] += off * off;
                }
            }
        }
        return distances;
    }
}
