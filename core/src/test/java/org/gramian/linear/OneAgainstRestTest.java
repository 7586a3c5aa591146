package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.linear.Svm.OneAgainstRest;
import org.gramian.tensor.Scope;
import org.junit.jupiter.api.Test;

class OneAgainstRestTest {
    private static final int PROBLEMS = 1000;

    private static OneAgainstRest problems(SolverListener watch) {
        LabelledRows rows =
                SyntheticRows.of(new SplittableRandom(1), 12, 3, 3, 0.5).rows();
        return new OneAgainstRest(rows, Features.of(rows), watch);
    }

    @Test
    void failureIsThrownAfterAllProblemsHaveEnded() {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch two = new CountDownLatch(2);
        try (Scope _ = Scope.open()) {
            assertThatThrownBy(() -> problems(SolverListener.NONE).all("trying", PROBLEMS, (_, _) -> {
                        running.incrementAndGet();
                        boolean first = begun.incrementAndGet() == 1;
                        two.countDown();
                        try {
                            if (first) {
                                two.await(1, TimeUnit.SECONDS); // in vain where there is one processor
                                throw new IllegalStateException("broken");
                            }
                            Thread.sleep(200);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        } finally {
                            running.decrementAndGet();
                        }
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("broken");
            assertThat(running).hasValue(0);
            assertThat(begun.get()).as("the rest is not begun").isLessThan(PROBLEMS);
        }
    }

    @Test
    void listenerIsNotCalledAfterItThrows() {
        AtomicInteger reported = new AtomicInteger();
        RuntimeException stop = new RuntimeException("stop");
        SolverListener watch = (_, _, _) -> {
            if (reported.incrementAndGet() >= 3) {
                throw stop;
            }
        };
        try (Scope _ = Scope.open()) {
            LabelledRows rows =
                    SyntheticRows.of(new SplittableRandom(2), 60, 5, 6, 0.5).rows();
            assertThatThrownBy(() -> new Svm(OptionalDouble.empty()).solve(rows, watch))
                    .isSameAs(stop);
        }
        assertThat(reported).hasValue(3);
    }
}
