package org.gramian.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.cli.TinyModel;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The server keeps to its own description: every status of every address is documented, and every answer has its schema. */
class OpenApiTest {
    private static final byte[] PICTURE = Served.png(1);
    private static final byte[] NONE = "not an image".getBytes(UTF_8);

    @TempDir
    private static Path folder;

    private static Served served;
    private static OpenApiCheck check;

    @BeforeAll
    static void start() throws Exception {
        Limits limits =
                new Limits(new Limits.Upload(100_000, 3, 1_000_000, Duration.ofSeconds(20)), Limits.Load.DEFAULT);
        served = Served.start(
                Served.withGallery(folder), new ServeOptions("localhost", 0, Optional.of("secret"), limits));
        check = new OpenApiCheck(Served.json(served.get("/openapi.json")));
    }

    @AfterAll
    static void stop() {
        served.close();
    }

    @Test
    void everyPathExistsAndResponsesMatchTheSchema() throws Exception {
        for (String path : Set.of("/v1/model", "/health", "/metrics", "/openapi.json", "/")) {
            assertThat(check.answer("get", path, get(path))).as(path).isEqualTo(200);
        }
        assertThat(predict("image/png", PICTURE, "")).isEqualTo(200);
        assertThat(predict("image/png", PICTURE, "?top=2&explain=true&nearest=2"))
                .isEqualTo(200);
        assertThat(predict("image/png", NONE, "?explain=true")).isEqualTo(422);
        assertThat(predict("image/png", Served.image(1, 1_001, 1_000), "")).isEqualTo(413);
        assertThat(predict(
                        "multipart/form-data; boundary=xyz",
                        Served.form("xyz", new UploadedImage("a", NONE)),
                        "?explain=true"))
                .isEqualTo(200);
        assertThat(embed("application/octet-stream", PICTURE)).isEqualTo(200);
        assertThat(embed("image/jpeg", NONE)).isEqualTo(422);
        assertThat(check.addresses())
                .isEqualTo(new TreeSet<>(Set.of(
                        "get /v1/model",
                        "get /health",
                        "get /metrics",
                        "get /openapi.json",
                        "get /",
                        "post /v1/predict",
                        "post /v1/embed")));
    }

    @Test
    void errorsMatchTheSchema() throws Exception {
        assertThat(predict("image/png", PICTURE, "?top=x")).isEqualTo(400);
        assertThat(predict("image/png", new byte[100_001], "")).isEqualTo(413);
        assertThat(predict("text/html", PICTURE, "")).isEqualTo(415);
        assertThat(check.answer("post", "/v1/predict", served.post("/v1/predict", "image/png", PICTURE)))
                .isEqualTo(401);
        for (String path : Set.of("/v1/model", "/metrics")) {
            assertThat(check.answer("get", path, served.get(path))).isEqualTo(401);
        }
        for (String path : Set.of("/v1/model", "/health", "/metrics", "/openapi.json", "/")) {
            HttpRequest.Builder wrong = signed(path).method("DELETE", HttpRequest.BodyPublishers.noBody());
            assertThat(check.answer("get", path, served.send(wrong))).isEqualTo(405);
        }
        HttpRequest.Builder foreign = signed("/v1/embed")
                .header("Origin", "https://elsewhere.example")
                .POST(HttpRequest.BodyPublishers.ofByteArray(PICTURE));
        assertThat(check.answer("post", "/v1/embed", served.send(foreign))).isEqualTo(403);
    }

    @Test
    void explanationAndNeighboursAreOptional() throws Exception {
        JsonNode requested = result("?explain=true&nearest=3");
        assertThat(requested.get("explanation").get("class")).isEqualTo(requested.get("class"));
        assertThat(requested.get("nearest").size()).isEqualTo(3);
        assertThat(requested.get("nearest").get(0).get("name").asString()).isEqualTo("paper/1.png");
        assertThat(requested.get("nearest").get(0).get("distance").asDouble()).isLessThan(0.02);
        JsonNode plain = result("");
        assertThat(plain.has("explanation") || plain.has("nearest")).isFalse();
        assertThat(plain.get("top").size()).isEqualTo(TinyModel.CLASSES.size());
    }

    /** The table of errors in the docs has each status and code that the sources create. */
    @Test
    void everyErrorIsDocumented() throws IOException {
        List<String> rows = Files.readAllLines(Path.of("../docs/serving.md")).stream()
                .filter(line -> line.matches("\\| [45]\\d\\d.*"))
                .toList();
        Pattern error = Pattern.compile("new HttpError\\(\\s*(\\d{3}),\\s*\"([a-z-]+)\"");
        List<MatchResult> errors = new ArrayList<>();
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/org/gramian/serve"))) {
            for (Path source : sources.toList()) {
                errors.addAll(error.matcher(Files.readString(source)).results().toList());
            }
        }
        assertThat(errors)
                .hasSizeGreaterThan(10)
                .allSatisfy(found -> assertThat(rows)
                        .anyMatch(row -> row.contains(found.group(1)) && row.contains("`" + found.group(2) + "`")));
    }

    private static HttpRequest.Builder signed(String path) {
        return served.to(path).header("Authorization", "Bearer secret").header("Content-Type", "image/png");
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return served.send(signed(path).GET());
    }

    private static HttpResponse<String> post(String path, String type, byte[] body) throws Exception {
        return served.send(
                signed(path).setHeader("Content-Type", type).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    private static int predict(String type, byte[] body, String query) throws Exception {
        return check.answer("post", "/v1/predict", post("/v1/predict" + query, type, body));
    }

    private static int embed(String type, byte[] body) throws Exception {
        return check.answer("post", "/v1/embed", post("/v1/embed", type, body));
    }

    private static JsonNode result(String query) throws Exception {
        return Served.json(post("/v1/predict" + query, "image/png", PICTURE))
                .get("results")
                .get(0);
    }
}
