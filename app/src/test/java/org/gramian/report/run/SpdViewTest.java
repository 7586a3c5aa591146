package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.gramian.inspect.DegenerateChannels;
import org.gramian.inspect.MatrixStage;
import org.gramian.inspect.MatrixStage.QuantileRange;
import org.gramian.inspect.SpdInspection;
import org.junit.jupiter.api.Test;

class SpdViewTest {
    @Test
    void absoluteEigenvaluesDecrease() {
        List<QuantileRange> values = List.of(range(9), range(2), range(0.5), range(-1), range(-4));
        MatrixStage relu = new MatrixStage("transform 2, relu", 5, 8, values, range(3), range(18), 1);
        SpdInspection inspection = new SpdInspection(
                "cd".repeat(32),
                "conv:5/rbf/relu",
                new DegenerateChannels(5, 64, 8, List.of(), List.of()),
                List.of(relu));
        String path = new SpdView("holdout", inspection)
                .spectrum()
                .series()
                .getFirst()
                .path();
        List<Double> depths = Pattern.compile("[ML][\\d.]+ ([\\d.]+)")
                .matcher(path)
                .results()
                .map(point -> Double.valueOf(point.group(1)))
                .toList();
        assertThat(depths).hasSize(5).isSorted();
    }

    private static QuantileRange range(double middle) {
        return new QuantileRange(middle - 0.1, middle, middle + 0.1);
    }
}
