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
import org.gramian.tensor.library.LibtorchException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is computed of one image, and how often. */
class ImageWorkTest {
    @TempDir
    private Path folder;

    @Test
    void scoresAndDescriptorsOfAnImageAreComputedInOnePass() throws Exception {
        List<Set<Engine.Rows>> passes = new ArrayList<>();
        LoadedModel model = Served.computedBy(ModelWithGallery.load(folder), engine -> (crops, shape, wanted) -> {
            passes.add(wanted);
            return engine.compute(crops, shape, wanted);
        });
        try (Served served = Served.start(model, ServeOptions.local(0))) {
            served.post("/v1/predict?nearest=2", "image/png", Served.png(1));
            served.post("/v1/predict", "image/png", Served.png(1));
        }
        assertThat(passes).containsExactly(EnumSet.allOf(Engine.Rows.class), EnumSet.of(Engine.Rows.SCORES));
    }

    @Test
    void wantOfMemoryWhileComputingIsRefusedForNowAndTheNextIsAnswered() throws Exception {
        assertRefusedOnce("no-memory", () -> {
            throw new OutOfMemoryError("as if");
        });
    }

    @Test
    void whatLibtorchGivesUpIsRefusedForNowWithWhatHelpsAndTheNextIsAnswered() throws Exception {
        String message = assertRefusedOnce("not-computed", () -> {
            throw new LibtorchException("as if aten::mm of [[9, 9], [9, 9]] failed");
        });
        assertThat(message).has(facts("memory", "--batch")).doesNotContain("aten");
    }

    /** Fails the first time, and gives the message of the answer. */
    private String assertRefusedOnce(String code, Runnable failing) throws Exception {
        AtomicInteger requested = new AtomicInteger();
        LoadedModel model = Served.computedBy(ModelWithGallery.load(folder), engine -> (crops, shape, wanted) -> {
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
    void wantOfMemoryWhileDecodingIsRefusedForNowAndNotCalledAFaultOfTheImage() throws Exception {
        Admission admission = new Admission(Limits.DEFAULT);
        Unreadable full = new Unreadable(Problem.NO_MEMORY, "as if");
        Pipeline pipeline = new Pipeline(new WorkQueue(1), Limits.Load.DEFAULT, _ -> full);
        try (ModelSlot slot = new ModelSlot(ModelWithGallery.load(folder));
                ModelSlot.Lease lease = slot.lease();
                Admission.Ticket ticket = admission.enter()) {
            Order.Wish scores = new Order.Wish(Set.of(Engine.Rows.SCORES), false);
            var outcomes = pipeline.begin(List.of(new Order(new byte[1], lease, scores, ticket)));
            assertThatThrownBy(() -> Deadline.in(Duration.ofSeconds(20)).await(outcomes.getFirst()))
                    .isInstanceOfSatisfying(
                            HttpError.class,
                            refusal -> assertThat(refusal.code()).isEqualTo("no-memory"));
        }
        pipeline.close(Duration.ofSeconds(20));
    }

    @Test
    void aLargeImageIsNotKeptForItsExplanationButWhatTheModelSeesOfItIsAndIsCounted() throws Exception {
        LoadedModel model = ModelWithGallery.load(folder);
        Image large = new Image(3_000, 2_000, new byte[3 * 3_000 * 2_000]);
        ReadResult read = new Readable(large, new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 3_000, 2_000, 1));
        WorkQueue queue = new WorkQueue(1);
        Batcher batcher = new Batcher(queue, (_, _, _) -> {});
        Pipeline pipeline = new Pipeline(queue, Limits.Load.DEFAULT, _ -> read);
        Admission admission = new Admission(Limits.DEFAULT);
        try (ModelSlot slot = new ModelSlot(model);
                ModelSlot.Lease lease = slot.lease();
                Admission.Ticket ticket = admission.enter()) {
            Order.Wish explained = new Order.Wish(Set.of(Engine.Rows.SCORES), true);
            var outcomes = pipeline.begin(List.of(new Order(new byte[1], lease, explained, ticket)));
            Order.Computed computed =
                    (Order.Computed) Deadline.in(Duration.ofSeconds(20)).await(outcomes.getFirst());
            assertThat(computed.view().orElseThrow().bytes()).isBetween(3L * 32 * 32, 3L * 64 * 64);
            assertThat(ticket.bytes()).isEqualTo(computed.view().orElseThrow().bytes());
        }
        pipeline.close(Duration.ofSeconds(20));
        batcher.close(Duration.ofSeconds(20));
    }
}
