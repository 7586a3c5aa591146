package org.gramian.serve;

import io.javalin.http.Context;
import java.awt.image.BufferedImage;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.gramian.anomaly.Inspection;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.explain.HeatImage;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.explain.gradient.GradientExplainer;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.model.Engine;
import org.gramian.model.ModelCard;
import org.gramian.model.Prediction;
import org.gramian.report.AnomalyOverlay;
import org.gramian.report.DetectorMeasures;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The endpoints below {@code /v1}, and the JSON of their responses. */
record Api(ModelSlot slot, Admission admission, ImageReader reader, Batcher batcher, Limits limits, Meters meters) {
    static final String TYPE = "application/json";

    /** Bytes of a file that take about as long to decode as a pixel. */
    private static final int PIXEL_BYTES = 3;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final ObjectWriter STREAM = MAPPER.writer()
            .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);
    private static final String JPEG = "data:image/jpeg;base64,";
    private static final String PNG = "data:image/png;base64,";

    /** Without channel pairs, which the page does not show. */
    private static final int DEFAULT_TOP = 5;

    private static final int MAX_TOP = 1_000;
    private static final int MAX_NEAREST = 50;

    private record Query(int top, boolean explain, int nearest) {}

    /** Builds the JSON of one image, computing an explanation if requested. */
    @FunctionalInterface
    private interface ResultBuilder {
        CompletableFuture<ObjectNode> build(UploadedImage image, Batcher.Outcome outcome, Deadline end);
    }

    void model(Context context) throws HttpError {
        requireOnly(context.queryParamMap(), List.of());
        try (ModelSlot.Lease lease = slot.lease()) {
            answer(context, lease.model().describe());
        }
    }

    void predict(Context context) throws HttpError {
        Query query = query(context.queryParamMap());
        RequestBody.check(context, limits.upload());
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            switch (lease.model()) {
                case LoadedDetector detector -> {
                    Batcher.Job job = new Batcher.Job(lease, Set.of(), false, ticket);
                    respond(context, job, (image, outcome, _) -> inspection(query, detector, image, outcome));
                }
                case LoadedModel classifier -> {
                    if (query.explain()) {
                        requireExplained(classifier);
                    }
                    Set<Engine.Rows> rows = classifier.classifier().predicting();
                    if (query.nearest() > 0 && classifier.nearest().isPresent()) {
                        rows.add(Engine.Rows.DESCRIPTORS);
                    }
                    Batcher.Job job = new Batcher.Job(lease, rows, query.explain(), ticket);
                    respond(
                            context,
                            job,
                            (image, outcome, end) ->
                                    prediction(query, job, classifier, image, (Batcher.Computed) outcome, end));
                }
            }
        }
    }

    void embed(Context context) throws HttpError {
        requireOnly(context.queryParamMap(), List.of());
        RequestBody.check(context, limits.upload());
        try (Admission.Ticket ticket = admission.enter();
                ModelSlot.Lease lease = slot.lease()) {
            if (lease.model() instanceof LoadedDetector) {
                throw HttpError.wrong(
                        "expected a classifier for descriptors, found a detector of anomalies; use" + " /v1/predict");
            }
            Batcher.Job job = new Batcher.Job(lease, Set.of(Engine.Rows.DESCRIPTORS), false, ticket);
            respond(
                    context,
                    job,
                    (image, outcome, _) -> CompletableFuture.completedFuture(object().put("name", image.name())
                            // an array, not a node per number
                            .putPOJO(
                                    "descriptor",
                                    ((Batcher.Computed) outcome).result().descriptor())));
        }
    }

    private void respond(Context context, Batcher.Job job, ResultBuilder builder) throws HttpError {
        byte[] body = RequestBody.read(context.req(), limits.upload(), job.ticket());
        List<UploadedImage> images = RequestBody.images(context.contentType(), body, limits.upload());
        long pixels = images.stream()
                .mapToLong(image -> Math.max(reader.pixels(image.content()), image.content().length / PIXEL_BYTES))
                .sum();
        job.ticket().images(images.size(), job.explain() ? images.size() : 0, pixels);
        job.ticket().bytes(images.size() * rowBytes(job));
        Deadline end = Deadline.in(limits.load().answer());
        List<CompletableFuture<Batcher.Outcome>> pending =
                batcher.submit(job, images.stream().map(UploadedImage::content).toList());
        List<CompletableFuture<ObjectNode>> results = new ArrayList<>();
        try {
            List<ReadResult.Unreadable> unread = new ArrayList<>();
            for (int i = 0; i < images.size(); i++) {
                UploadedImage image = images.get(i);
                switch (end.await(pending.get(i))) {
                    case Batcher.Unread(var reason) -> {
                        results.add(CompletableFuture.completedFuture(unreadable(image, reason)));
                        unread.add(reason);
                    }
                    case Batcher.Outcome outcome -> results.add(builder.build(image, outcome, end));
                }
            }
            ObjectNode document = object();
            ArrayNode array = document.putArray("results");
            for (CompletableFuture<ObjectNode> result : results) {
                array.add(end.await(result));
            }
            meters.images(images.size() - unread.size(), unread.size());
            if (!RequestBody.isForm(context.contentType()) && !unread.isEmpty()) {
                context.status(unread.getFirst().problem() == ReadResult.Problem.TOO_LARGE ? 413 : 422);
            }
            stream(context, document, limits.upload().time());
        } finally {
            pending.forEach(outcome -> outcome.cancel(false)); // after a failure
            results.forEach(outcome -> outcome.cancel(false));
        }
    }

    /** Returns the bytes of an image's descriptors until they are sent; scores are too few to count. */
    private static long rowBytes(Batcher.Job job) {
        return job.lease().model() instanceof LoadedModel model && job.rows().contains(Engine.Rows.DESCRIPTORS)
                ? Float.BYTES
                        * (model.classifier().crops() + 1L) // those of the crops, and their mean
                        * model.header().descriptorSize()
                : 0;
    }

    private CompletableFuture<ObjectNode> inspection(
            Query query, LoadedDetector detector, UploadedImage image, Batcher.Outcome outcome) {
        Inspection found = ((Batcher.Inspected) outcome).inspection();
        observe(detector, found.pValue());
        ObjectNode result = object().put("name", image.name());
        result.setAll((ObjectNode)
                JsonText.tree(DetectorMeasures.json(found, detector.opened().card())));
        if (query.explain()) {
            BufferedImage heat =
                    AnomalyOverlay.heat(found.map(), detector.opened().card().mapThreshold());
            result.putObject("explanation").put("heat", source(heat));
        }
        return CompletableFuture.completedFuture(result);
    }

    private CompletableFuture<ObjectNode> prediction(
            Query query,
            Batcher.Job job,
            LoadedModel model,
            UploadedImage image,
            Batcher.Computed computed,
            Deadline end) {
        Prediction prediction =
                computed.result().toPrediction(model.classifier().card());
        prediction.pValue().ifPresent(pValue -> observe(model, pValue));
        ObjectNode result = prediction(image, prediction, query.top());
        if (query.nearest() > 0) {
            ArrayNode list = result.putArray("nearest");
            model.nearest()
                    .ifPresent(index ->
                            nearest(list, index, computed.result().of(Engine.Rows.DESCRIPTORS), query.nearest()));
        }
        return query.explain()
                ? explained(job, model, result, computed.view().orElseThrow(), end)
                : CompletableFuture.completedFuture(result);
    }

    private void observe(ServedModel model, double pValue) {
        model.recent().orElseThrow().add(pValue);
        meters.pValue(pValue);
    }

    /** Adds the explanation. Its image is encoded on a virtual thread, not on the computing thread. */
    private CompletableFuture<ObjectNode> explained(
            Batcher.Job job, LoadedModel model, ObjectNode result, CroppedImage view, Deadline end) {
        String name = result.get("class").asString();
        CompletableFuture<HeatMap> heat = batcher.explain(job.lease(), end, () -> {
            long start = System.nanoTime();
            ModelCard card = model.header().card();
            HeatMap found = new GradientExplainer(model.explained(), card, 0)
                    .explain(view, card.classes().indexOf(name))
                    .heat();
            Duration time = Duration.ofNanos(System.nanoTime() - start);
            job.ticket().explained(time);
            meters.explained(time);
            return found;
        });
        CompletableFuture<ObjectNode> drawn = heat.thenApplyAsync(
                found -> {
                    result.putObject("explanation").put("class", name).put("heat", source(HeatImage.overlay(found)));
                    return result;
                },
                Thread::startVirtualThread);
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
        int number = text.get().matches("\\d{1,9}") ? Integer.parseInt(text.get()) : -1;
        if (number >= least && number <= most) {
            return number;
        }
        throw HttpError.wrong("expected " + name + " as a whole number from " + least + " to " + most + ", found "
                + QuotedText.text(text.get()));
    }

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static byte[] bytes(JsonNode document) {
        return MAPPER.writeValueAsBytes(document);
    }

    static ObjectNode error(String code, String message) {
        ObjectNode document = object();
        document.putObject("error").put("code", code).put("message", message);
        return document;
    }

    static void answer(Context context, JsonNode document) {
        context.contentType(TYPE).result(bytes(document));
    }

    /**
     * Streams a response, so that a long one is never in memory as text. Closes the connection if the client does not read it in
     * time: a partial response must not look complete.
     */
    static void stream(Context context, JsonNode document, Duration longest) {
        Deadline end = Deadline.in(longest);
        OutputStream out = context.contentType(TYPE).outputStream();
        OutputStream timed = new FilterOutputStream(out) {
            @Override
            public void write(byte[] bytes, int from, int count) throws IOException {
                if (end.isOver()) {
                    throw new InterruptedIOException("the client did not read the response within " + end.time());
                }
                out.write(bytes, from, count);
            }
        };
        try {
            STREAM.writeValue(timed, document);
            out.close();
        } catch (JacksonIOException | IOException _) {
            ServletContextRequest.getServletContextRequest(context.req())
                    .getConnectionMetaData()
                    .getConnection()
                    .getEndPoint()
                    .close();
        }
    }

    private ObjectNode unreadable(UploadedImage image, ReadResult.Unreadable reason) {
        ObjectNode result = object().put("name", image.name());
        result.putObject("error")
                .put("code", "unreadable")
                .put("problem", reason.problem().name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .put("message", message(reason));
        return result;
    }

    /** Returns the reader's message, except where it may contain text of a decoder or of this machine. */
    private String message(ReadResult.Unreadable reason) {
        return switch (reason.problem()) {
            case CORRUPT -> "expected an image that can be decoded, found damaged data";
            case TRUNCATED -> "expected a complete image, found a truncated file";
            case TOO_LARGE ->
                "expected an image of at most " + limits.upload().pixels()
                        + " pixels that decodes within seconds, found one" + " that is larger or takes longer";
            default -> reason.reason();
        };
    }

    private static ObjectNode prediction(UploadedImage image, Prediction prediction, int count) {
        ObjectNode result = object().put("name", image.name())
                .put("class", prediction.className())
                .put("probability", prediction.probability());
        prediction.pValue().ifPresent(pValue -> result.put("p_value", pValue).put("unknown", prediction.isUnknown()));
        ArrayNode top = result.putArray("top");
        for (Prediction.ClassProbability candidate : prediction.top(count)) {
            top.addObject().put("class", candidate.name()).put("probability", candidate.probability());
        }
        return result;
    }

    /** Adds the training images nearest to an image with these descriptors of its crops. */
    static void nearest(ArrayNode list, NearestImages images, float[][] crops, int count) {
        for (NearestImages.Match match : images.nearest(crops, count)) {
            byte[] thumbnail = images.gallery().thumbnail(match.index());
            list.addObject()
                    .put("name", match.name())
                    .put("class", match.className())
                    .put("distance", match.distance())
                    .put("thumbnail", JPEG + Base64.getEncoder().encodeToString(thumbnail));
        }
    }

    private static String source(BufferedImage heat) {
        return PNG + Base64.getEncoder().encodeToString(HeatImage.png(heat));
    }

    private static void requireExplained(LoadedModel loaded) throws HttpError {
        Optional<String> reason = loaded.incompatibility();
        if (reason.isPresent()) {
            throw HttpError.wrong("explain=true is not supported by this model: " + reason.get());
        }
    }
}
