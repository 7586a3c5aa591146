package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.cli.TinyModel;
import org.gramian.model.Engine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order in which explanations and batches are computed. */
class WorkQueueTest {
    private static final Duration LONG = Duration.ofHours(1);

    @TempDir
    private Path folder;

    private final WorkQueue queue = new WorkQueue(1);

    private static Work.Alone explanation(ModelSlot slot, Deadline end) {
        return new Work.Alone(slot.lease(), () -> {}, new CompletableFuture<>(), end);
    }

    private static Work.Crops crops(ModelSlot slot) {
        return new Work.Crops(slot.lease(), Set.of(Engine.Rows.SCORES), new float[0], new CompletableFuture<>());
    }

    private void expect(List<Work> order) throws InterruptedException {
        for (Work work : order) {
            assertThat(queue.take()).containsExactly(work);
            work.lease().close();
        }
    }

    private ModelSlot slot() throws Exception {
        return new ModelSlot(Served.load(TinyModel.write(folder.resolve("model.safetensors"), "center:32")));
    }

    @Test
    void allExplanationsOfAnEarlierRequestComeBeforeThoseOfALaterOneAndBatchesBetween() throws Exception {
        try (ModelSlot slot = slot()) {
            Deadline early = Deadline.in(LONG);
            Deadline late = new Deadline(early.nanos() + 1, LONG);
            List<Work.Alone> later = List.of(explanation(slot, late), explanation(slot, late));
            List<Work.Alone> earlier = List.of(explanation(slot, early), explanation(slot, early));
            List<Work.Crops> batches = List.of(crops(slot), crops(slot));
            later.forEach(queue::add);
            batches.forEach(queue::add);
            earlier.forEach(queue::add);
            expect(List.of(
                    earlier.getFirst(),
                    batches.getFirst(),
                    earlier.getLast(),
                    batches.getLast(),
                    later.getFirst(),
                    later.getLast()));
        }
    }

    @Test
    void explanationsGoBeforeBatchesOnceHalfOfTheirTimeIsOver() throws Exception {
        try (ModelSlot slot = slot()) {
            Deadline near = new Deadline(System.nanoTime() + LONG.toNanos() / 3, LONG);
            List<Work.Alone> urgent = List.of(explanation(slot, near), explanation(slot, near));
            Work.Crops batch = crops(slot);
            queue.add(batch);
            urgent.forEach(queue::add);
            expect(List.of(urgent.getFirst(), urgent.getLast(), batch));
        }
    }
}
