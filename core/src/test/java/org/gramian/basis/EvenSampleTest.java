package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EvenSampleTest {
    @Test
    void shortListIsTakenWhole() {
        assertThat(EvenSample.of(List.of("a", "b", "c"), 3)).containsExactly("a", "b", "c");
        assertThat(EvenSample.of(List.of("a"), 5)).containsExactly("a");
        assertThat(EvenSample.of(List.of(), 5)).isEmpty();
        assertThat(EvenSample.of(List.of("a"), 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"10, 5", "7, 3", "1000, 64", "65, 64"})
    void stepsAreEvenAndStartAtTheFirst(int all, int most) {
        long[] places = EvenSample.places(all, most);
        assertThat(places).hasSize(most).isSorted().doesNotHaveDuplicates().startsWith(0);
        assertThat(IntStream.range(1, most).mapToObj(i -> places[i] - places[i - 1]))
                .allMatch(step -> step == all / most || step == all / most + 1);
        assertThat(all - places[most - 1]).isBetween((long) all / most, (long) all / most + 1);
    }
}
