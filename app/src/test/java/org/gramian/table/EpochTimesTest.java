package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.StageStarted;
import org.gramian.train.event.TrainEvent.Stepped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EpochTimesTest {
    @TempDir
    private Path folder = Path.of("");

    private final AtomicLong seconds = new AtomicLong();

    private EpochTimes open() throws IOException {
        return EpochTimes.open(folder, () -> seconds.get() * 1_000_000_000L);
    }

    private EpochTimes started(int fold) throws IOException {
        EpochTimes times = open();
        times.accept(new TrainEvent.FoldStarted(fold, 2, "fold", 1, 0, "", 1));
        times.accept(new StageStarted(1, 9, 4, 32));
        return times;
    }

    /** An epoch of four steps, of which the first may be missing. */
    private void epoch(EpochTimes times, int stage, int epoch, int firstStep, int took) {
        for (int step = firstStep; step <= 4; step++) {
            times.accept(new Stepped(stage, epoch, step, 8 * step, 1, 0.5));
        }
        seconds.addAndGet(took);
        times.accept(new EpochDone(stage, epoch, 1, 1, 0.5, 0.5, 1, true, OptionalDouble.empty()));
    }

    @Test
    void storesMedianEpochOfStageOne() throws IOException {
        EpochTimes times = started(1);
        assertThat(times.perEpoch()).isEmpty();
        epoch(times, 1, 0, 1, 100);
        epoch(times, 1, 1, 1, 3);
        times.accept(new StageStarted(2, 9, 4, 32));
        epoch(times, 2, 0, 1, 1000);
        assertThat(open().perEpoch()).hasValue((100 + 3) / 2.0);
        epoch(started(1), 1, 0, 1, 50); // a repeated epoch counts once
        epoch(started(2), 1, 0, 1, 4);
        assertThat(open().perEpoch()).hasValue(4);
    }

    @Test
    void interruptedEpochHasNoTime() throws IOException {
        EpochTimes times = started(1);
        epoch(times, 1, 3, 2, 1);
        assertThat(open().perEpoch()).isEmpty();
        epoch(times, 1, 4, 1, 7);
        assertThat(open().perEpoch()).hasValue(7);
    }
}
