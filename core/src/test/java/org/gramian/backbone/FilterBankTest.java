package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.backbone.network.FilterBank;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the fixed filters see. */
class FilterBankTest {
    private static final int SIDE = 128;
    /** Positions of the last level whose windows reach beyond the image. */
    private static final int BORDER = 4;

    private static final int FILTERS = 19;

    private final Scope scope = Scope.open(); // JUnit makes one object per run
    private final BackboneTrial trial = BackboneTrial.of(Backbone.of("filters"), DType.F64);

    @AfterEach
    void close() {
        trial.close();
        scope.close();
    }

    private static Tensor tensor(Grid grid) {
        return Tensors.of(grid.values(), grid.shape(), DType.F64);
    }

    /** The mean of each map over its positions away from the border. */
    private double[] responses(Grid image) {
        Grid maps = Grid.of(trial.features(tensor(image)));
        int side = (int) maps.shape().at(2);
        return IntStream.range(0, (int) maps.shape().at(1))
                .mapToDouble(c -> IntStream.range(0, (side - 2 * BORDER) * (side - 2 * BORDER))
                        .mapToDouble(
                                i -> maps.at(0, c, BORDER + i / (side - 2 * BORDER), BORDER + i % (side - 2 * BORDER)))
                        .average()
                        .orElseThrow())
                .toArray();
    }

    @Test
    void filtersHaveUnitLengthAndNoMean() {
        assertThat(FilterBank.Formulas.bank())
                .hasSize(FilterBank.Formulas.FILTERS)
                .allSatisfy(filter -> {
                    assertThat(Arrays.stream(filter).map(v -> v * v).sum()).isCloseTo(1, Offset.offset(1e-12));
                    for (int colour = 0; colour < 3; colour++) {
                        double[] plane = Arrays.copyOfRange(filter, colour * 121, (colour + 1) * 121);
                        assertThat(Arrays.stream(plane).sum()).isCloseTo(0, Offset.offset(1e-12));
                    }
                });
        assertThat(Arrays.stream(FilterBank.Formulas.smoothing()).sum()).isCloseTo(1, Offset.offset(1e-15));
    }

    @RandomTest(times = 5)
    void aFlatImageShowsItsColourOnly(Seed seed) {
        double[] colour = seed.random().doubles(3, -1, 1).toArray();
        double[] found = responses(Grid.make(Shape.of(1, 3, SIDE, SIDE), p -> colour[p[1]]));
        assertThat(Arrays.copyOf(found, 6 * FILTERS)).containsOnly(new double[6 * FILTERS], Offset.offset(1e-12));
        double luminance = (colour[0] + colour[1] + colour[2]) / Math.sqrt(3);
        double redGreen = (colour[0] - colour[1]) / Math.sqrt(2);
        double yellowBlue = (colour[0] + colour[1] - 2 * colour[2]) / Math.sqrt(6);
        List<Double> signed = List.of(luminance, redGreen, yellowBlue);
        for (int i = 0; i < 3; i++) {
            assertThat(found[6 * FILTERS + i]).isCloseTo(Math.max(0, signed.get(i)), Offset.offset(1e-12));
            assertThat(found[6 * FILTERS + 3 + i]).isCloseTo(Math.max(0, -signed.get(i)), Offset.offset(1e-12));
        }
    }

    /** A grating of a level's wavelength is seen best by the Gabors of its own orientation at its own level. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aGratingIsSeenByTheGaborOfItsOrientationAndOctave(int octave) {
        for (int k = 0; k < FilterBank.Formulas.ORIENTATIONS; k++) {
            double angle = Math.PI * k / FilterBank.Formulas.ORIENTATIONS;
            double frequency = 2 * Math.PI / (5 << octave);
            double[] found = responses(Grid.make(
                    Shape.of(1, 3, SIDE, SIDE),
                    p -> Math.cos(frequency * (p[3] * Math.cos(angle) + p[2] * Math.sin(angle)))));
            int best = IntStream.range(0, 6 * FILTERS)
                    .boxed()
                    .max((a, b) -> Double.compare(found[a], found[b]))
                    .orElseThrow();
            assertThat(best / (2 * FILTERS)).as("level for orientation %d", k).isEqualTo(octave);
            assertThat(best % FILTERS / 2).as("orientation").isEqualTo(k);
        }
    }

    /** Colour filters do not see grey, luminance filters do not see colours of one luminance. */
    @RandomTest(times = 5)
    void luminanceAndColourAreApart(Seed seed) {
        Grid noise = Grid.of(seed.gaussian(SIDE, SIDE));
        double[] grey = responses(Grid.make(Shape.of(1, 3, SIDE, SIDE), p -> noise.at(p[2], p[3])));
        double[] coloured = responses(Grid.make(
                Shape.of(1, 3, SIDE, SIDE),
                p -> p[1] == 0 ? noise.at(p[2], p[3]) : p[1] == 1 ? -noise.at(p[2], p[3]) : 0));
        for (int i = 0; i < 6 * FILTERS; i++) {
            boolean luminance = i % FILTERS < 13;
            assertThat(luminance ? coloured[i] : grey[i]).as("filter %d", i).isCloseTo(0, Offset.offset(1e-12));
            boolean redGreen = i % FILTERS >= 13 && i % FILTERS < 16;
            assertThat(luminance ? grey[i] : redGreen ? coloured[i] : 1).isGreaterThan(0.01);
        }
    }
}
