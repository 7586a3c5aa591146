package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class StratifiedOrderTest {
    /** 80, 15 and 5 elements. */
    private static final List<String> STRATA = strata();

    private static List<String> strata() {
        List<String> strata = new ArrayList<>(Collections.nCopies(80, "large"));
        strata.addAll(Collections.nCopies(15, "small"));
        strata.addAll(Collections.nCopies(5, "tiny"));
        return strata;
    }

    private static long count(int prefix, String stratum) {
        return StratifiedOrder.of(STRATA, 2, 7).subList(0, prefix).stream()
                .filter(index -> STRATA.get(index).equals(stratum))
                .count();
    }

    @Test
    void everyElementOccursOnce() {
        assertThat(StratifiedOrder.of(STRATA, 2, 7))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).boxed().toList());
    }

    @Test
    void everyStratumComesFirst() {
        for (String stratum : List.of("large", "small", "tiny")) {
            assertThat(count(6, stratum)).isEqualTo(2);
        }
    }

    @Test
    void prefixesKeepProportions() {
        for (int prefix = 10; prefix <= 100; prefix += 10) {
            assertThat(count(prefix, "large")).isBetween(prefix * 8L / 10 - 4, prefix * 8L / 10 + 1);
            assertThat(count(prefix, "tiny")).isBetween(Math.max(2, prefix / 20L), 2 + prefix / 20L);
        }
    }

    @Test
    void orderFollowsFromSeed() {
        assertThat(StratifiedOrder.of(STRATA, 2, 7)).isEqualTo(StratifiedOrder.of(STRATA, 2, 7));
        assertThat(StratifiedOrder.of(STRATA, 2, 7)).isNotEqualTo(StratifiedOrder.of(STRATA, 2, 8));
    }
}
