package org.gramian.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.audit.AuditReport.Contents.SizeCount;
import org.junit.jupiter.api.Test;

class SizePlotTest {
    @Test
    void widthIncreasesToTheRightAndHeightUpwards() {
        SizePlot plot = SizePlot.of(List.of(new SizeCount(100, 400, 1), new SizeCount(400, 100, 9)));
        SizePlot.Dot wide = plot.dots().getFirst();
        SizePlot.Dot high = plot.dots().getLast();
        assertThat(wide.text()).has(facts("400×100", "9"));
        assertThat(high.text()).has(facts("100×400", "1"));
        assertThat(wide.x()).isGreaterThan(high.x());
        assertThat(wide.y()).isGreaterThan(high.y());
        assertThat(wide.radius()).isGreaterThan(high.radius());
    }

    @Test
    void dotsLieInsideAndTheirNumberIsBounded() {
        List<SizeCount> sizes = IntStream.range(0, 100_000)
                .mapToObj(i -> new SizeCount(1 + i % 317, 1 + i / 7, 1))
                .toList();
        SizePlot plot = SizePlot.of(sizes);
        assertThat(plot.dots()).hasSizeLessThan(91 * 91);
        assertThat(plot.dots()).allSatisfy(dot -> {
            assertThat(dot.x()).isBetween(0, SizePlot.SIDE);
            assertThat(dot.y()).isBetween(0, SizePlot.SIDE);
        });
        assertThat(plot.ticks()).extracting(SizePlot.Tick::pixels).contains(1, 64, 8192);
    }

    @Test
    void noImagesAreAnEmptyPlot() {
        assertThat(SizePlot.of(List.of()).dots()).isEmpty();
    }
}
