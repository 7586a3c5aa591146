package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;
import org.gramian.serve.ServeOptions.Limits;
import org.gramian.tensor.library.LibtorchException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Engine calls, failures and memory of one image. */
class ComputeTest {
    @TempDir
    private Path folder;

    @Test
    void computesScoresAndDescriptorsInOnePass() throws Exception {
        List<Set<Engine.Rows>> passes = new ArrayList<>();
        LoadedModel model = Served.computedBy(Served.withGallery(folder), engine -> (crops, shape, wanted) -> {
            passes.add(wanted);
            return engine.compute(crops, shape, wanted);
        });
        try (Served served = Served.start(model, ServeOptions.local(0))) {
            served.post("/v1/predict?nearest=2", "image/png", Served.png(1));
            served.post("/v1/predict", "image/png", Served.png(1));
        }
        assertThat(passes)
                .containsExactly(
                        EnumSet.of(Engine.Rows.SCORES, Engine.Rows.DESCRIPTORS), EnumSet.of(Engine.Rows.SCORES));
    }

    @Test
    void outOfMemoryGets503() throws Exception {
        assertRefusedOnce("no-memory", () -> {
            throw new OutOfMemoryError("simulated");
        });
    }

    @Test
    void failureOfLibtorchGets503() throws Exception {
        String message = assertRefusedOnce("not-computed", () -> {
            throw new LibtorchException("simulated aten::mm of [[9, 9], [9, 9]] failed");
        });
        assertThat(message).has(facts("memory", "--batch")).doesNotContain("aten");
    }

    /** Fails the first call and returns the error message of the response. */
    private String assertRefusedOnce(String code, Runnable failing) throws Exception {
        AtomicInteger requested = new AtomicInteger();
        LoadedModel model = Served.computedBy(Served.withGallery(folder), engine -> (crops, shape, wanted) -> {
            if (requested.getAndIncrement() == 0) {
                failing.run();
            }
            return engine.compute(crops, shape, wanted);
        });
        try (Served served = Served.start(model, ServeOptions.local(0))) {
            HttpResponse<String> refused = served.post("/v1/predict", "image/png", Served.png(1));
            ServerTest.assertError(refused, 503, code);
            assertThat(refused.headers().firstValueAsLong("Retry-After")).hasValue(5);
            assertThat(served.post("/v1/predict", "image/png", Served.png(1)).statusCode())
                    .isEqualTo(200);
            return Served.json(refused).get("error").get("message").asString();
        }
    }

    @Test
    void outOfMemoryWhileDecodingGets503() throws Exception {
        Admission admission = new Admission(Limits.DEFAULT);
        Unreadable full = new Unreadable(Problem.NO_MEMORY, "simulated");
        Batcher batcher = BatcherTest.batcher((_, _) -> full);
        try (ModelSlot slot = Served.slot(Served.withGallery(folder));
                ModelSlot.Lease lease = slot.lease();
                Admission.Ticket ticket = admission.enter()) {
            Batcher.Job job = new Batcher.Job(lease, Set.of(Engine.Rows.SCORES), false, ticket);
            var outcomes = batcher.submit(job, List.of(new byte[1]));
            assertThatThrownBy(() -> Deadline.in(Duration.ofSeconds(20)).await(outcomes.getFirst()))
                    .isInstanceOfSatisfying(
                            HttpError.class,
                            refusal -> assertThat(refusal.code()).isEqualTo("no-memory"));
        }
        batcher.close(Duration.ofSeconds(20));
    }

    @Test
    void explanationCountsMemoryOfItsCrops() throws Exception {
        LoadedModel model = Served.withGallery(folder);
        Image large = new Image(3_000, 2_000, new byte[3 * 3_000 * 2_000]);
        ReadResult read = new Readable(large, new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 3_000, 2_000, 1));
        Batcher batcher = BatcherTest.batcher((_, _) -> read);
        Admission admission = new Admission(Limits.DEFAULT);
        try (ModelSlot slot = Served.slot(model);
                ModelSlot.Lease lease = slot.lease();
                Admission.Ticket ticket = admission.enter()) {
            Batcher.Job job = new Batcher.Job(lease, Set.of(Engine.Rows.SCORES), true, ticket);
            var outcomes = batcher.submit(job, List.of(new byte[1]));
            Batcher.Computed computed =
                    (Batcher.Computed) Deadline.in(Duration.ofSeconds(20)).await(outcomes.getFirst());
            assertThat(computed.view().orElseThrow().bytes()).isBetween(3L * 32 * 32, 3L * 64 * 64);
            assertThat(ticket.bytes()).isEqualTo(computed.view().orElseThrow().bytes());
        }
        batcher.close(Duration.ofSeconds(20));
    }
}
