package org.gramian.serve;

import io.javalin.http.Context;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.explain.HeatMap;
import org.gramian.explain.View;
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
    /** Says what is wanted of one picture, from what was computed of it. */
    @FunctionalInterface
    private interface Telling {
        ObjectNode of(Upload upload, Order.Computed computed, Deadline end) throws Refusal;
    }

    /** What is computed of all pictures of a request, and what is then said of each. */
    private record Plan(Order.Wish wish, Telling telling) {}

    void model(Context context) throws Refusal {
        Question.only(context.queryParamMap(), List.of());
        try (ModelSlot.Lease lease = slot.lease()) {
            Json.answer(context, ModelAnswer.of(lease.model()));
        }
    }

    void predict(Context context) throws Refusal {
        Question question = Question.of(context.queryParamMap());
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
            Telling telling = (upload, computed, end) -> prediction(new Asked(question, lease, end), upload, computed);
            answer(context, ticket, lease, new Plan(new Order.Wish(rows, question.explain()), telling));
        }
    }

    void embed(Context context) throws Refusal {
        Question.only(context.queryParamMap(), List.of());
        check(context);
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            Order.Wish wish = new Order.Wish(Set.of(Engine.Rows.DESCRIPTORS), false);
            Telling telling = (upload, computed, _) -> PictureAnswers.descriptor(upload, computed);
            answer(context, ticket, lease, new Plan(wish, telling));
        }
    }

    /** Refuses what can be told to be wrong before the body is read. */
    private void check(Context context) throws Refusal {
        Uploads.accepted(context.contentType());
        Body.check(context.req(), limits.upload());
    }

    /** A question to a model, and until when it is to be answered. */
    private record Asked(Question question, ModelSlot.Lease lease, Deadline end) {}

    private ObjectNode prediction(Asked asked, Upload upload, Order.Computed computed) throws Refusal {
        LoadedModel model = asked.lease().model();
        Answer answer = PictureAnswers.answer(model, computed);
        ObjectNode result =
                PictureAnswers.prediction(upload, answer, asked.question().top());
        if (asked.question().explain()) {
            View view = computed.view().orElseThrow();
            String name = answer.best().name();
            HeatMap heat = asked.end().await(pipeline.alone(asked.lease(), () -> Explanations.of(model, view, name)));
            result.set("explanation", Explanations.tell(heat, name));
        }
        if (asked.question().nearest() > 0) {
            ArrayNode list = result.putArray("nearest");
            model.nearest()
                    .ifPresent(pictures -> pictures.tell(
                            list,
                            computed.of(Engine.Rows.DESCRIPTORS),
                            asked.question().nearest()));
        }
        return result;
    }

    private void answer(Context context, Admission.Ticket ticket, ModelSlot.Lease lease, Plan plan) throws Refusal {
        byte[] body = Body.read(context.req(), limits.upload(), ticket);
        List<Upload> uploads = Uploads.of(context.contentType(), body, limits.upload());
        ticket.pictures(uploads.size());
        ticket.bytes(uploads.size() * plan.wish().bytes(lease.model()));
        Deadline end = Deadline.in(limits.load().answer());
        List<CompletableFuture<Order.Outcome>> pending = pipeline.begin(uploads.stream()
                .map(upload -> new Order(upload.content(), lease, plan.wish(), ticket))
                .toList());
        try {
            ObjectNode document = Json.object();
            ArrayNode results = document.putArray("results");
            int unread = 0;
            for (int i = 0; i < uploads.size(); i++) {
                Upload upload = uploads.get(i);
                switch (end.await(pending.get(i))) {
                    case Order.Unread(var reason) -> {
                        results.add(PictureAnswers.unreadable(upload, reason));
                        unread++;
                    }
                    case Order.Computed computed -> results.add(plan.telling().of(upload, computed, end));
                }
            }
            meters.pictures(uploads.size() - unread, unread);
            Json.send(context, document, limits.upload().time());
        } finally {
            pending.forEach(outcome -> outcome.cancel(false)); // what is left undone by a failure
        }
    }
}
