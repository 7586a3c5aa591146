package org.gramian.image.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.image.dataset.Assignment.Folds;
import org.gramian.image.dataset.Assignment.Groups;
import org.gramian.image.dataset.Assignment.None;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Assignment.Splits;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Some samples keep their part in the order in which they are named. */
final class AssignmentTest {
    private static Stream<Assignment> assignments() {
        return Stream.of(
                new None(),
                new Splits(
                        List.of(new Split("official", List.of(SplitPart.TRAIN, SplitPart.VALIDATION, SplitPart.TEST)))),
                new Folds(List.of(2, 0, 1)),
                new Groups(List.of("a", "b", "c")));
    }

    @ParameterizedTest
    @MethodSource("assignments")
    void someSamplesKeepTheirPart(Assignment all) {
        Assignment some = all.some(List.of(2, 0));

        assertThat(some).hasSameClassAs(all);
        assertThat(List.of(some.part(0), some.part(1))).containsExactly(all.part(2), all.part(0));
        assertThat(all.part(0).isEmpty()).isEqualTo(all instanceof None);
    }
}
