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
import org.gramian.model.Engine;
import org.gramian.model.Prediction;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The endpoints below {@code /v1}.
 *
 * @param slot the model
 * @param admission capacity for requests
 * @param pipeline from bytes to rows
 * @param limits of a request
 * @param meters metrics
 */
record Api(ModelSlot slot, Admission admission, Pipeline pipeline, Limits limits, Meters meters) {
    /** Makes the JSON of one image from its rows, computing an explanation if requested. */
    @FunctionalInterface
    private interface Response {
        CompletableFuture<ObjectNode> of(Upload upload, Order.Computed computed, Deadline end);
    }

    /** Rows to compute for the images of a request, and the JSON to make of each. */
    private record Plan(Order.Wish wish, Response response) {}

    void model(Context context) throws HttpError {
        PredictionRequest.only(context.queryParamMap(), List.of());
        try (ModelSlot.Lease lease = slot.lease()) {
            Json.answer(context, ResponseJson.model(lease.model()));
        }
    }

    void predict(Context context) throws HttpError {
        PredictionRequest query = PredictionRequest.of(context.queryParamMap());
        check(context);
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            if (query.explain()) {
                ResponseJson.requireExplained(lease.model());
            }
            Set<Engine.Rows> rows = EnumSet.of(Engine.Rows.SCORES);
            if (query.nearest() > 0 && lease.model().nearest().isPresent()) {
                rows.add(Engine.Rows.DESCRIPTORS);
            }
            Response response =
                    (upload, computed, end) -> prediction(new Exchange(query, lease, ticket, end), upload, computed);
            answer(context, ticket, lease, new Plan(new Order.Wish(rows, query.explain()), response));
        }
    }

    void embed(Context context) throws HttpError {
        PredictionRequest.only(context.queryParamMap(), List.of());
        check(context);
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            Order.Wish wish = new Order.Wish(Set.of(Engine.Rows.DESCRIPTORS), false);
            Response response = (upload, computed, _) ->
                    CompletableFuture.completedFuture(ResponseJson.descriptor(upload, computed));
            answer(context, ticket, lease, new Plan(wish, response));
        }
    }

    /** Checks content type and length before the body is read. */
    private void check(Context context) throws HttpError {
        Uploads.accepted(context.contentType());
        Body.check(context.req(), limits.upload());
    }

    /** A prediction request with its model, its share of the capacity, and its deadline. */
    private record Exchange(PredictionRequest query, ModelSlot.Lease lease, Admission.Ticket ticket, Deadline end) {}

    private CompletableFuture<ObjectNode> prediction(Exchange exchange, Upload upload, Order.Computed computed) {
        LoadedModel model = exchange.lease().model();
        Prediction prediction =
                Prediction.of(computed.result().logits(), model.header().card());
        ObjectNode result =
                ResponseJson.prediction(upload, prediction, exchange.query().top());
        if (exchange.query().nearest() > 0) {
            ArrayNode list = result.putArray("nearest");
            model.nearest()
                    .ifPresent(images -> ResponseJson.nearest(
                            list,
                            images,
                            computed.result().of(Engine.Rows.DESCRIPTORS),
                            exchange.query().nearest()));
        }
        return exchange.query().explain()
                ? explained(exchange, result, computed.view().orElseThrow())
                : CompletableFuture.completedFuture(result);
    }

    /** Adds the explanation, drawn on a thread that no other request waits for. */
    private CompletableFuture<ObjectNode> explained(Exchange exchange, ObjectNode result, CroppedImage view) {
        String name = result.get("class").asString();
        CompletableFuture<HeatMap> heat = pipeline.alone(exchange.lease(), exchange.end(), () -> {
            long start = System.nanoTime();
            HeatMap found = ResponseJson.explain(exchange.lease().model(), view, name);
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            exchange.ticket().explained(time);
            meters.explained(time);
            return found;
        });
        CompletableFuture<ObjectNode> drawn = heat.thenApplyAsync(
                found -> result.set("explanation", ResponseJson.explanation(found, name)), Thread::startVirtualThread);
        var _ = drawn.whenComplete((_, _) -> heat.cancel(false)); // a cancelled request cancels its heat map
        return drawn;
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
        List<CompletableFuture<ObjectNode>> results = new ArrayList<>();
        try {
            List<Unreadable> unread = new ArrayList<>();
            for (int i = 0; i < uploads.size(); i++) {
                Upload upload = uploads.get(i);
                switch (end.await(pending.get(i))) {
                    case Order.Unread(var reason) -> {
                        results.add(CompletableFuture.completedFuture(ResponseJson.unreadable(upload, reason, limits)));
                        unread.add(reason);
                    }
                    case Order.Computed computed -> results.add(plan.response().of(upload, computed, end));
                }
            }
            ObjectNode document = Json.object();
            ArrayNode array = document.putArray("results");
            for (CompletableFuture<ObjectNode> one : results) {
                array.add(end.await(one));
            }
            meters.images(uploads.size() - unread.size(), unread.size());
            if (!Uploads.isForm(context.contentType()) && !unread.isEmpty()) {
                context.status(ResponseJson.status(unread.getFirst()));
            }
            Json.send(context, document, limits.upload().time());
        } finally {
            pending.forEach(outcome -> outcome.cancel(false)); // after a failure
            results.forEach(outcome -> outcome.cancel(false));
        }
    }
}
