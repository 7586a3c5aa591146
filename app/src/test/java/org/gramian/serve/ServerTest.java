package org.gramian.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.cli.TinyModel;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Responses to valid and invalid requests. */
class ServerTest {
    private static final String FORM = "multipart/form-data; boundary=xyz";

    @TempDir
    private static Path folder;

    private static Served served;

    @BeforeAll
    static void start() throws IOException {
        served = Served.start(folder, ServeOptions.local(0));
    }

    @AfterAll
    static void stop() {
        served.close();
    }

    @Test
    void predictsLikeTheClassifier() throws Exception {
        JsonNode result = Served.json(served.post("/v1/predict?top=2", "image/png", Served.png(1)))
                .get("results")
                .get(0);
        Prediction expected = expected(Served.png(1));
        assertThat(result.get("class").asString()).isEqualTo(expected.best().name());
        assertThat(result.get("probability").asDouble())
                .isCloseTo(expected.best().probability(), within(1e-6));
        assertThat(result.get("top").size()).isEqualTo(2);
        assertThat(result.get("top").get(1).get("class").asString())
                .isEqualTo(expected.ranking().get(1).name());
        assertThat(result.has("explanation") || result.has("nearest")).isFalse();
    }

    private Prediction expected(byte[] png) throws IOException {
        try (Classifier classifier = Classifier.load(folder.resolve("model.safetensors"))) {
            ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(png);
            return classifier.predict(((ReadResult.Readable) reading).image());
        }
    }

    /** What {@code curl --data-binary} sends. */
    @Test
    void imagesNeedNoContentType() throws Exception {
        HttpResponse<String> response = served.post("/v1/predict", "application/x-www-form-urlencoded", Served.png(1));
        assertThat(Served.json(response).get("results").get(0).get("class").asString())
                .isEqualTo(expected(Served.png(1)).best().name());
    }

    @Test
    void answersFormsInOrder() throws Exception {
        byte[] form = Served.form(
                "xyz",
                new UploadedImage("a.png", Served.png(1)),
                new UploadedImage("b.jpg", "not an image".getBytes(UTF_8)),
                new UploadedImage("ä \\\"c\\\".png", Served.png(2)));
        HttpResponse<String> response = served.post("/v1/predict", FORM, form);
        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode results = Served.json(response).get("results");
        assertThat(results.size()).isEqualTo(3);
        assertThat(results.get(0).get("name").asString()).isEqualTo("a.png");
        assertThat(results.get(1).get("error").get("code").asString()).isEqualTo("unreadable");
        assertThat(results.get(1).has("class")).isFalse();
        assertThat(results.get(2).get("name").asString()).isEqualTo("ä \"c\".png");
        assertThat(results.get(2).get("class").asString())
                .isEqualTo(expected(Served.png(2)).best().name());
    }

    @Test
    void unreadableImageGets422() throws Exception {
        for (byte[] body : List.of("not an image".getBytes(UTF_8), new byte[0])) {
            for (String path : List.of("/v1/predict", "/v1/embed")) {
                HttpResponse<String> response = served.post(path, "image/png", body);
                assertThat(response.statusCode()).as(path).isEqualTo(422);
                JsonNode error = Served.json(response).get("results").get(0).get("error");
                assertThat(error.get("code").asString()).isEqualTo("unreadable");
            }
        }
        byte[] form = Served.form("xyz", new UploadedImage("b.jpg", "not an image".getBytes(UTF_8)));
        assertThat(served.post("/v1/predict", FORM, form).statusCode()).isEqualTo(200);
    }

    @Test
    void embedReturnsADescriptor() throws Exception {
        JsonNode model = Served.json(served.get("/v1/model"));
        assertThat(model.get("classes").size()).isEqualTo(TinyModel.CLASSES.size());
        assertThat(model.get("pooling").asString()).startsWith("conv:4/rbf");
        JsonNode results = Served.json(served.post("/v1/embed", "application/octet-stream", Served.png(3)))
                .get("results");
        JsonNode descriptor = results.get(0).get("descriptor");
        assertThat(descriptor.size()).isEqualTo(model.get("descriptorSize").asInt());
        double squares = IntStream.range(0, descriptor.size())
                .mapToDouble(
                        i -> descriptor.get(i).asDouble() * descriptor.get(i).asDouble())
                .sum();
        assertThat(squares).isCloseTo(1, within(1e-4));
    }

    @Test
    void invalidRequestsGetErrorCodes() throws Exception {
        assertError(served.post("/v1/predict", "text/plain", Served.png(1)), 415, "unsupported-type");
        assertError(served.post("/v1/predict?top=0", "image/png", Served.png(1)), 400, "bad-request");
        assertError(served.post("/v1/predict?tpo=1", "image/png", Served.png(1)), 400, "bad-request");
        assertError(served.post("/v1/predict?explain=maybe", "image/png", Served.png(1)), 400, "bad-request");
        assertError(served.post("/v1/predict", "multipart/form-data", Served.png(1)), 400, "bad-request");
        assertError(served.post("/v1/predict", FORM, new byte[0]), 400, "bad-request");
        assertError(served.get("/v1/predict"), 405, "wrong-method");
        assertError(served.get("/v1/other"), 404, "not-found");
        assertError(served.post("/v1/other", "image/png", Served.png(1)), 404, "not-found");
        assertError(served.post("/v1/predict", "image/png", new byte[20_000_001]), 413, "too-large");
    }

    @Test
    void rejectsRequestsWithoutHost() throws IOException {
        try (Socket socket = new Socket("localhost", served.server().port())) {
            socket.getOutputStream().write("GET /health HTTP/1.0\r\n\r\n".getBytes(UTF_8));
            assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
                    .has(facts("Host"));
        }
    }

    @Test
    void reportsUnusableAddresses() {
        assertThatIOException()
                .isThrownBy(() ->
                        Served.start(folder, ServeOptions.local(served.server().port())))
                .has(facts(served.server().port()));
        ServeOptions nowhere = new ServeOptions("nohost.invalid", 0, Optional.of("token"), Limits.DEFAULT);
        assertThatIOException().isThrownBy(() -> Served.start(folder, nowhere)).has(facts("nohost.invalid", "0"));
    }

    @Test
    void healthIsOk() throws Exception {
        HttpResponse<String> response = served.get("/health");
        assertThat(response.body()).isEqualTo("{\"status\":\"ok\"}");
        assertThat(response.headers().firstValue("Content-Security-Policy")).isPresent();
        assertThat(response.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(response.headers().firstValue("Server")).isEmpty();
    }

    static void assertError(HttpResponse<String> response, int status, String code) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        JsonNode error = Served.json(response).get("error");
        assertThat(error.get("code").asString()).isEqualTo(code);
        assertThat(error.get("message").asString()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/v1/model", "/health", "/openapi.json", "/app.js", "/nothing-of-that-name"})
    void headReturnsTheHeadersOfGet(String address) throws Exception {
        HttpResponse<String> whole = served.get(address);
        HttpResponse<String> head = served.send(served.to(address).HEAD());
        assertThat(head.statusCode()).isEqualTo(whole.statusCode());
        assertThat(head.body()).isEmpty();
        assertThat(head.headers().firstValue("Content-Type"))
                .isEqualTo(whole.headers().firstValue("Content-Type"));
        assertThat(head.headers().firstValueAsLong("Content-Length"))
                .hasValue(whole.body().getBytes(UTF_8).length);
    }

    @Test
    void headHasTheCompressedLength() throws Exception {
        HttpRequest.Builder requested = served.to("/app.js").header("Accept-Encoding", "gzip");
        byte[] whole = served.client()
                .send(requested.build(), HttpResponse.BodyHandlers.ofByteArray())
                .body();
        assertThat(whole).hasSizeLessThan(served.get("/app.js").body().length());
        assertThat(served.send(requested.HEAD()).headers().firstValueAsLong("Content-Length"))
                .hasValue(whole.length);
    }
}
