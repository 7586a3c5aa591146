package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.gramian.cli.TinyModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatcherTest {
    private static final Deadline SOON = Deadline.in(Duration.ofSeconds(20));

    @TempDir
    private Path folder;

    /** As when there is too little memory left even to say that there was too little. */
    private static final class Untold extends CompletableFuture<Void> {
        @Override
        public boolean completeExceptionally(Throwable problem) {
            throw new OutOfMemoryError("as if");
        }
    }

    @Test
    void aFailureThatCannotEvenBeToldDoesNotEndTheThreadThatComputes() throws Exception {
        WorkQueue queue = new WorkQueue(1);
        Batcher batcher = new Batcher(queue, (_, _, _) -> {});
        try (ModelSlot slot =
                new ModelSlot(Served.load(TinyModel.write(folder.resolve("model.safetensors"), "center:32")))) {
            queue.add(new Work.Alone(
                    slot.lease(),
                    () -> {
                        throw new OutOfMemoryError("as if");
                    },
                    new Untold(),
                    SOON));
            CompletableFuture<Boolean> next = new CompletableFuture<>();
            queue.add(new Work.Alone(slot.lease(), () -> next.complete(true), next, SOON));
            assertThat(next.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(batcher.isAlive()).isTrue();
            batcher.close(Duration.ofSeconds(20));
            assertThat(batcher.isAlive()).isFalse();
        }
    }
}
