package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    private static void fold(EpochTimes times, int number) {
        times.accept(new TrainEvent.FoldStarted(number, 2, "fold", 1, 0, 1));
    }

    private static void stage(EpochTimes times, int stage) {
        times.accept(new StageStarted(stage, 9, 4, 32));
    }

    /** An epoch whose first steps are missing. */
    private void epoch(EpochTimes times, int stage, int epoch, int firstStep, int took) {
        for (int step = firstStep; step <= 4; step++) {
            times.accept(new Stepped(stage, epoch, step, 8 * step, 1, 0.5));
        }
        seconds.addAndGet(took);
        times.accept(new EpochDone(stage, epoch, 1, 1, 0.5, 0.5, 1, true, OptionalDouble.empty()));
    }

    @Test
    void medianEpochOfStageOneIsStored() throws IOException {
        EpochTimes times = open();
        assertThat(times.perEpoch()).isEmpty();
        fold(times, 1);
        stage(times, 1);
        epoch(times, 1, 0, 1, 50);
        epoch(times, 1, 1, 1, 3);
        stage(times, 2);
        epoch(times, 2, 0, 1, 1000);
        assertThat(open().perEpoch()).hasValue((50 + 3) / 2.0);
        EpochTimes again = open();
        fold(again, 2);
        stage(again, 1);
        epoch(again, 1, 0, 1, 4);
        assertThat(open().perEpoch()).hasValue(4);
    }

    @Test
    void interruptedEpochHasNoTime() throws IOException {
        EpochTimes times = open();
        fold(times, 1);
        stage(times, 1);
        epoch(times, 1, 3, 2, 1);
        assertThat(open().perEpoch()).isEmpty();
        epoch(times, 1, 4, 1, 7);
        assertThat(open().perEpoch()).hasValue(7);
    }

    @Test
    void repeatedEpochCountsOnce() throws IOException {
        for (int took : List.of(100, 6)) {
            EpochTimes times = open();
            fold(times, 1);
            stage(times, 1);
            epoch(times, 1, 0, 1, took);
        }
        assertThat(open().perEpoch()).hasValue(6);
    }

    @Test
    void rejectsDamagedFile() throws IOException {
        Files.writeString(folder.resolve("times.csv"), "fold,epoch,seconds\n1,1,soon\n");
        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("times.csv");
    }
}
