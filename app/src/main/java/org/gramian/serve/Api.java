package org.gramian.serve;

import io.javalin.http.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.explain.CroppedImage;
import org.gramian.explain.HeatMap;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answers below {@code /v1}.
 *
 * @param slot the model
 * @param admission what may be taken on
 * @param pipeline from bytes to rows
 * @param limits of a request
 * @param meters what is counted
 */
record Api(ModelSlot slot, Admission admission, Pipeline pipeline, Limits limits, Meters meters) {
    /** Says what is wanted of one image, from what was computed of it, and has computed what is still wanting. */
    @FunctionalInterface
    private interface Telling {
        CompletableFuture<ObjectNode> of(Upload upload, Order.Computed computed, Deadline end);
    }

    /** What is computed of all images of a request, and what is then said of each. */
    private record Plan(Order.Wish wish, Telling telling) {}

    void model(Context context) throws HttpError {
        PredictionRequest.only(context.queryParamMap(), List.of());
        try (ModelSlot.Lease lease = slot.lease()) {
            Json.answer(context, ModelDescription.of(lease.model()));
        }
    }

    void predict(Context context) throws HttpError {
        PredictionRequest question = PredictionRequest.of(context.queryParamMap());
        check(context);
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            if (question.explain()) {
                Explanations.require(lease.model());
            }
            Set<Engine.Rows> rows = EnumSet.of(Engine.Rows.SCORES);
            if (question.nearest() > 0 && lease.model().nearest().isPresent()) {
                rows.add(Engine.Rows.DESCRIPTORS);
            }
            Telling telling =
                    (upload, computed, end) -> prediction(new Asked(question, lease, ticket, end), upload, computed);
            answer(context, ticket, lease, new Plan(new Order.Wish(rows, question.explain()), telling));
        }
    }

    void embed(Context context) throws HttpError {
        PredictionRequest.only(context.queryParamMap(), List.of());
        check(context);
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            Order.Wish wish = new Order.Wish(Set.of(Engine.Rows.DESCRIPTORS), false);
            Telling telling = (upload, computed, _) ->
                    CompletableFuture.completedFuture(ImageAnswers.descriptor(upload, computed));
            answer(context, ticket, lease, new Plan(wish, telling));
        }
    }

    /** Refuses what can be told to be wrong before the body is read. */
    private void check(Context context) throws HttpError {
        Uploads.accepted(context.contentType());
        Body.check(context.req(), limits.upload());
    }

    /** A question to a model, what was taken on for it, and until when it is to be answered. */
    private record Asked(PredictionRequest question, ModelSlot.Lease lease, Admission.Ticket ticket, Deadline end) {}

    private CompletableFuture<ObjectNode> prediction(Asked asked, Upload upload, Order.Computed computed) {
        LoadedModel model = asked.lease().model();
        Answer answer = ImageAnswers.answer(model, computed);
        ObjectNode result =
                ImageAnswers.prediction(upload, answer, asked.question().top());
        if (asked.question().nearest() > 0) {
            ArrayNode list = result.putArray("nearest");
            model.nearest()
                    .ifPresent(images -> images.tell(
                            list,
                            computed.of(Engine.Rows.DESCRIPTORS),
                            asked.question().nearest()));
        }
        return asked.question().explain()
                ? explained(asked, result, computed.view().orElseThrow())
                : CompletableFuture.completedFuture(result);
    }

    /** The result with its explanation, which is drawn by a thread that others do not wait for. */
    private CompletableFuture<ObjectNode> explained(Asked asked, ObjectNode result, CroppedImage view) {
        String name = result.get("class").asString();
        CompletableFuture<HeatMap> heat = pipeline.alone(asked.lease(), asked.end(), () -> {
            long start = System.nanoTime();
            HeatMap found = Explanations.of(asked.lease().model(), view, name);
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            asked.ticket().explained(time);
            meters.explained(time);
            return found;
        });
        CompletableFuture<ObjectNode> told = heat.thenApplyAsync(
                found -> result.set("explanation", Explanations.tell(found, name)), Thread::startVirtualThread);
        var _ = told.whenComplete((_, _) -> heat.cancel(false)); // whoever gives up has it left undone
        return told;
    }

    private void answer(Context context, Admission.Ticket ticket, ModelSlot.Lease lease, Plan plan) throws HttpError {
        byte[] body = Body.read(context.req(), limits.upload(), ticket);
        List<Upload> uploads = Uploads.of(context.contentType(), body, limits.upload());
        ticket.images(uploads.size(), plan.wish().explained() ? uploads.size() : 0);
        ticket.bytes(uploads.size() * plan.wish().bytes(lease.model()));
        Deadline end = Deadline.in(limits.load().answer());
        List<CompletableFuture<Order.Outcome>> pending = pipeline.begin(uploads.stream()
                .map(upload -> new Order(upload.content(), lease, plan.wish(), ticket))
                .toList());
        List<CompletableFuture<ObjectNode>> told = new ArrayList<>();
        try {
            List<Unreadable> unread = new ArrayList<>();
            for (int i = 0; i < uploads.size(); i++) {
                Upload upload = uploads.get(i);
                switch (end.await(pending.get(i))) {
                    case Order.Unread(var reason) -> {
                        told.add(CompletableFuture.completedFuture(ImageAnswers.unreadable(upload, reason, limits)));
                        unread.add(reason);
                    }
                    case Order.Computed computed -> told.add(plan.telling().of(upload, computed, end));
                }
            }
            ObjectNode document = Json.object();
            ArrayNode results = document.putArray("results");
            for (CompletableFuture<ObjectNode> one : told) {
                results.add(end.await(one));
            }
            meters.images(uploads.size() - unread.size(), unread.size());
            if (!Uploads.isForm(context.contentType()) && !unread.isEmpty()) {
                context.status(ImageAnswers.status(unread.getFirst()));
            }
            Json.send(context, document, limits.upload().time());
        } finally {
            pending.forEach(outcome -> outcome.cancel(false)); // what is left undone by a failure
            told.forEach(outcome -> outcome.cancel(false));
        }
    }
}
