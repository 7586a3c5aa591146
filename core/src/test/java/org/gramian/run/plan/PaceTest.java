package org.gramian.run.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.gramian.train.event.TrainEvent.Task;
import org.junit.jupiter.api.Test;

final class PaceTest {
    private final AtomicLong now = new AtomicLong();
    private final Pace pace = new Pace(now::get);

    private void at(double seconds, String task, long done) {
        now.set(Math.round(seconds * 1e9));
        pace.accept(new Task(task, done, 100));
    }

    @Test
    void taskCountsFromEndOfTheOneBefore() {
        at(2, "checking images", 20);
        at(10, "checking images", 100);
        at(15, "training features", 32);
        at(20, "training features", 50);
        assertThat(pace.seconds("checking images")).isEqualTo(0.1);
        assertThat(pace.seconds("training features")).isEqualTo(0.2);
    }

    @Test
    void taskThatDidNotRunTakesNoTime() {
        assertThat(pace.seconds("training features")).isZero();
    }
}
