package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SubsampleTest {
    @ParameterizedTest
    @CsvSource({"10, 5", "7, 3", "1000, 64", "65, 64"})
    void stepsAreEvenAndStartAtTheFirst(int all, int most) {
        long[] places = Subsample.evenIndices(all, most);
        assertThat(places).hasSize(most).isSorted().doesNotHaveDuplicates().startsWith(0);
        assertThat(IntStream.range(1, most).mapToObj(i -> places[i] - places[i - 1]))
                .allMatch(step -> step == all / most || step == all / most + 1);
        assertThat(all - places[most - 1]).isBetween((long) all / most, (long) all / most + 1);
    }

    /** 80, 15 and 5 elements. */
    private static final List<String> STRATA = IntStream.range(0, 100)
            .mapToObj(i -> i < 80 ? "large" : i < 95 ? "small" : "tiny")
            .toList();

    @Test
    void stratifiedOrderFollowsFromSeed() {
        List<Integer> order = Subsample.stratified(STRATA, 2, 7);

        assertThat(order)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).boxed().toList())
                .isEqualTo(Subsample.stratified(STRATA, 2, 7))
                .isNotEqualTo(Subsample.stratified(STRATA, 2, 8));
    }

    @Test
    void prefixesOfStratifiedOrderKeepProportions() {
        List<String> order =
                Subsample.stratified(STRATA, 2, 7).stream().map(STRATA::get).toList();

        assertThat(order.subList(0, 6)).containsExactlyInAnyOrder("large", "large", "small", "small", "tiny", "tiny");
        for (int prefix = 10; prefix <= 100; prefix += 10) {
            List<String> some = order.subList(0, prefix);
            assertThat(Collections.frequency(some, "large")).isBetween(prefix * 8 / 10 - 4, prefix * 8 / 10 + 1);
            assertThat(Collections.frequency(some, "tiny")).isBetween(Math.max(2, prefix / 20), 2 + prefix / 20);
        }
    }
}
