package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PrincipalComponentsTest {
    @Test
    void planarPointsKeepDistances() {
        SplittableRandom random = new SplittableRandom(3);
        List<float[]> vectors = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            float a = (float) random.nextGaussian();
            float b = (float) (2 * random.nextGaussian());
            vectors.add(new float[] {a + b, a - b, 3 * a, 1});
        }
        double[][] squares = PrincipalComponents.squaredDistances(vectors);
        PrincipalComponents plane = PrincipalComponents.of(squares);
        for (int i = 0; i < 40; i++) {
            for (int j = 0; j < 40; j++) {
                double dx = plane.points()[i][0] - plane.points()[j][0];
                double dy = plane.points()[i][1] - plane.points()[j][1];
                assertThat(dx * dx + dy * dy).isCloseTo(squares[i][j], within(1e-5));
            }
        }
        assertThat(plane.explained()[0] + plane.explained()[1]).isCloseTo(1, within(1e-6));
        assertThat(plane.explained()[0]).isGreaterThanOrEqualTo(plane.explained()[1]);
    }

    @Test
    void axesAreUncorrelatedWithExplainedVariance() {
        SplittableRandom random = new SplittableRandom(4);
        double[] scales = {5, 3, 1, 0.5, 0.1};
        List<float[]> vectors = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            float[] vector = new float[scales.length];
            for (int k = 0; k < scales.length; k++) {
                vector[k] = (float) (scales[k] * random.nextGaussian());
            }
            vectors.add(vector);
        }
        PrincipalComponents plane = PrincipalComponents.of(PrincipalComponents.squaredDistances(vectors));
        double xx = 0;
        double xy = 0;
        double yy = 0;
        for (double[] point : plane.points()) {
            xx += point[0] * point[0];
            xy += point[0] * point[1];
            yy += point[1] * point[1];
        }
        assertThat(xy / Math.sqrt(xx * yy)).isCloseTo(0, within(1e-6));
        assertThat(plane.explained()[1] / plane.explained()[0]).isCloseTo(yy / xx, within(1e-9));
        assertThat(plane.explained()[0]).isBetween(0.6, 0.8); // 25 of 35.26 in expectation
    }
}
