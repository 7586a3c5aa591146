package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class CancellationTest {
    private final AtomicLong clock = new AtomicLong(17);

    private void pass(int seconds) {
        clock.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    @Test
    void reservedTimeIsLeftForEvaluationAndReport() {
        Cancellation breaks = Cancellation.after(Duration.ofSeconds(100), clock::get);
        assertThat(breaks.reserve(Duration.ofSeconds(30))).hasSeconds(30);
        assertThat(breaks.remaining()).contains(Duration.ofSeconds(70));
        pass(69);
        assertThat(breaks.reason()).isEmpty();
        pass(1);
        assertThat(breaks.reason()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(breaks.isUsed(1)).isFalse();
        pass(30);
        assertThat(breaks.isUsed(1)).isTrue();
    }

    @Test
    void trainingHasAtLeastHalf() {
        Cancellation breaks = Cancellation.after(Duration.ofSeconds(10), clock::get);
        assertThat(breaks.reserve(Duration.ofMinutes(3))).hasSeconds(5);
        pass(4);
        assertThat(breaks.reason()).isEmpty();
    }

    @Test
    void partsOfABudgetAreEqualAndUnusedTimeGoesToLaterOnes() {
        Cancellation breaks = Cancellation.after(Duration.ofSeconds(100), clock::get);
        breaks.reserve(Duration.ofSeconds(10));
        Cancellation first = breaks.part(3);
        assertThat(first.remaining()).contains(Duration.ofSeconds(30));
        pass(10);
        assertThat(breaks.part(2).remaining()).contains(Duration.ofSeconds(40));
        pass(20);
        assertThat(first.reason()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(breaks.reason()).isEmpty();
        breaks.cancel();
        assertThat(breaks.part(1).reason()).contains(Cancellation.Reason.CANCELLED);
    }

    @Test
    void withoutABudgetNothingIsReserved() {
        Cancellation breaks = Cancellation.onRequest();
        assertThat(breaks.reserve(Duration.ofMinutes(3))).isZero();
        assertThat(breaks.remaining()).isEmpty();
        assertThat(breaks.isUsed(1)).isFalse();
        assertThat(breaks.reason()).isEmpty();
        breaks.cancel();
        assertThat(breaks.reason()).contains(Cancellation.Reason.CANCELLED);
    }
}
