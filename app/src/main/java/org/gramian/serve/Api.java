package org.gramian.serve;

import io.javalin.http.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.basis.QuotedText;
import org.gramian.explain.CroppedImage;
import org.gramian.explain.HeatMap;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;
import org.gramian.model.Prediction;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The endpoints below {@code /v1}. */
record Api(ModelSlot slot, Admission admission, ImageReader reader, Batcher batcher, Limits limits, Meters meters) {
    private static final int DEFAULT_TOP = 5;
    private static final int MAX_TOP = 1_000;
    private static final int MAX_NEAREST = 50;

    /** Query parameters of a prediction. */
    private record Query(int top, boolean explain, int nearest) {}

    /** Builds the JSON of one image, computing an explanation if requested. */
    @FunctionalInterface
    private interface ResultBuilder {
        CompletableFuture<ObjectNode> build(UploadedImage image, Batcher.Computed computed, Deadline end);
    }

    void model(Context context) throws HttpError {
        requireOnly(context.queryParamMap(), List.of());
        try (ModelSlot.Lease lease = slot.lease()) {
            ResponseJson.answer(context, ResponseJson.model(lease.model()));
        }
    }

    void predict(Context context) throws HttpError {
        Query query = query(context.queryParamMap());
        RequestBody.check(context, limits.upload());
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            if (query.explain()) {
                ResponseJson.requireExplained(lease.model());
            }
            Set<Engine.Rows> rows = EnumSet.of(Engine.Rows.SCORES);
            if (query.nearest() > 0 && lease.model().nearest().isPresent()) {
                rows.add(Engine.Rows.DESCRIPTORS);
            }
            Batcher.Job job = new Batcher.Job(lease, rows, query.explain(), ticket);
            respond(context, job, (image, computed, end) -> prediction(query, job, image, computed, end));
        }
    }

    void embed(Context context) throws HttpError {
        requireOnly(context.queryParamMap(), List.of());
        RequestBody.check(context, limits.upload());
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            Batcher.Job job = new Batcher.Job(lease, Set.of(Engine.Rows.DESCRIPTORS), false, ticket);
            respond(
                    context,
                    job,
                    (image, computed, _) ->
                            CompletableFuture.completedFuture(ResponseJson.descriptor(image, computed)));
        }
    }

    private void respond(Context context, Batcher.Job job, ResultBuilder builder) throws HttpError {
        byte[] body = RequestBody.read(context.req(), limits.upload(), job.ticket());
        List<UploadedImage> images = RequestBody.images(context.contentType(), body, limits.upload());
        long pixels = images.stream()
                .mapToLong(image -> reader.pixels(image.content()))
                .sum();
        job.ticket().images(images.size(), job.explain() ? images.size() : 0, pixels);
        job.ticket().bytes(images.size() * rowBytes(job));
        Deadline end = Deadline.in(limits.load().answer());
        List<CompletableFuture<Batcher.Outcome>> pending =
                batcher.submit(job, images.stream().map(UploadedImage::content).toList());
        List<CompletableFuture<ObjectNode>> results = new ArrayList<>();
        try {
            List<Unreadable> unread = new ArrayList<>();
            for (int i = 0; i < images.size(); i++) {
                UploadedImage image = images.get(i);
                switch (end.await(pending.get(i))) {
                    case Batcher.Unread(var reason) -> {
                        results.add(CompletableFuture.completedFuture(ResponseJson.unreadable(image, reason, limits)));
                        unread.add(reason);
                    }
                    case Batcher.Computed computed -> results.add(builder.build(image, computed, end));
                }
            }
            ObjectNode document = ResponseJson.object();
            ArrayNode array = document.putArray("results");
            for (CompletableFuture<ObjectNode> result : results) {
                array.add(end.await(result));
            }
            meters.images(images.size() - unread.size(), unread.size());
            if (!RequestBody.isForm(context.contentType()) && !unread.isEmpty()) {
                context.status(ResponseJson.status(unread.getFirst()));
            }
            ResponseJson.stream(context, document, limits.upload().time());
        } finally {
            pending.forEach(outcome -> outcome.cancel(false)); // after a failure
            results.forEach(outcome -> outcome.cancel(false));
        }
    }

    /** Returns the bytes of an image's descriptors until they are sent; scores are too few to count. */
    private static long rowBytes(Batcher.Job job) {
        LoadedModel model = job.lease().model();
        long numbers =
                job.rows().contains(Engine.Rows.DESCRIPTORS) ? model.header().descriptorSize() : 0;
        return Float.BYTES * (model.classifier().crops() + 1L) * numbers; // those of the crops, and their mean
    }

    private CompletableFuture<ObjectNode> prediction(
            Query query, Batcher.Job job, UploadedImage image, Batcher.Computed computed, Deadline end) {
        LoadedModel model = job.lease().model();
        Prediction prediction =
                Prediction.of(computed.result().logits(), model.header().card());
        ObjectNode result = ResponseJson.prediction(image, prediction, query.top());
        if (query.nearest() > 0) {
            ArrayNode list = result.putArray("nearest");
            model.nearest()
                    .ifPresent(index -> ResponseJson.nearest(
                            list, index, computed.result().of(Engine.Rows.DESCRIPTORS), query.nearest()));
        }
        return query.explain()
                ? explained(job, result, computed.view().orElseThrow(), end)
                : CompletableFuture.completedFuture(result);
    }

    /** Adds the explanation. Its image is encoded on a virtual thread, not on the computing thread. */
    private CompletableFuture<ObjectNode> explained(
            Batcher.Job job, ObjectNode result, CroppedImage view, Deadline end) {
        String name = result.get("class").asString();
        CompletableFuture<HeatMap> heat = batcher.explain(job.lease(), end, () -> {
            long start = System.nanoTime();
            HeatMap found = ResponseJson.explain(job.lease().model(), view, name);
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            job.ticket().explained(time);
            meters.explained(time);
            return found;
        });
        CompletableFuture<ObjectNode> drawn = heat.thenApplyAsync(
                found -> result.set("explanation", ResponseJson.explanation(found, name)), Thread::startVirtualThread);
        var _ = drawn.whenComplete((_, _) -> heat.cancel(false)); // a cancelled request cancels its heat map
        return drawn;
    }

    private static Query query(Map<String, List<String>> parameters) throws HttpError {
        requireOnly(parameters, List.of("top", "explain", "nearest"));
        String explain = text(parameters, "explain").orElse("false");
        if (!explain.equals("true") && !explain.equals("false")) {
            throw HttpError.wrong("expected explain=true or explain=false, found " + QuotedText.text(explain));
        }
        return new Query(
                number(parameters, "top", DEFAULT_TOP, MAX_TOP),
                explain.equals("true"),
                number(parameters, "nearest", 0, MAX_NEAREST));
    }

    private static void requireOnly(Map<String, List<String>> parameters, List<String> known) throws HttpError {
        for (Map.Entry<String, List<String>> given : parameters.entrySet()) {
            if (!known.contains(given.getKey()) || given.getValue().size() != 1) {
                throw HttpError.wrong("expected "
                        + (known.isEmpty() ? "no parameters" : "only " + String.join(", ", known) + ", each once")
                        + ", found " + QuotedText.text(given.getKey()));
            }
        }
    }

    private static Optional<String> text(Map<String, List<String>> parameters, String name) {
        return Optional.ofNullable(parameters.get(name)).map(List::getFirst);
    }

    private static int number(Map<String, List<String>> parameters, String name, int fallback, int most)
            throws HttpError {
        Optional<String> text = text(parameters, name);
        if (text.isEmpty()) {
            return fallback;
        }
        int least = Math.min(fallback, 1);
        try {
            int number = Integer.parseInt(text.get());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // same error as for a number out of range
        }
        throw HttpError.wrong("expected " + name + " as a whole number from " + least + " to " + most + ", found "
                + QuotedText.text(text.get()));
    }
}
