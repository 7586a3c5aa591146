package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;
import java.util.OptionalDouble;
import javax.imageio.ImageIO;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.cli.TinyDetector;
import org.gramian.cli.TinyModel;
import org.gramian.explain.HeatImage;
import org.gramian.export.OpenModel;
import org.gramian.export.OpenModel.EngineChoice;
import org.gramian.image.Image;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A detector of anomalies behind the server. */
class DetectorServerTest {
    @TempDir
    private static Path folder;

    private static Path model;
    private static Served served;
    private static OpenApiCheck check;

    @BeforeAll
    static void start() throws Exception {
        model = TinyDetector.write(folder.resolve("model.safetensors"));
        served = serve(model, EngineChoice.LIBTORCH);
        check = new OpenApiCheck(Served.json(served.get("/openapi.json")));
    }

    @AfterAll
    static void stop() {
        served.close();
    }

    private static Served serve(Path file, EngineChoice engine) throws IOException {
        LoadedModel.Source source = LoadedModel.Source.of(file, OpenModel.Request.of(engine), OptionalDouble.empty());
        return new Served(
                Server.start(ServeOptions.local(0), source, Server.Listener.NONE), HttpClient.newHttpClient());
    }

    private static byte[] png(Image image) {
        return HeatImage.png(image.toBufferedImage());
    }

    private static JsonNode predict(Served server, Image image, String query) throws Exception {
        HttpResponse<String> response = server.post("/v1/predict" + query, "image/png", png(image));
        assertThat(check.answer("post", "/v1/predict", response)).isEqualTo(200);
        return Served.json(response).get("results").get(0);
    }

    @Test
    void inspectionEqualsThatOfDetector() throws Exception {
        try (Detector detector = Detector.load(model)) {
            for (Image image : new Image[] {TinyDetector.image(40), TinyDetector.defective(41)}) {
                Inspection expected = detector.inspect(image);
                JsonNode found = predict(served, image, "");
                assertThat(found.get("score").doubleValue()).isCloseTo(expected.score(), within(1e-4));
                assertThat(found.get("p_value").doubleValue()).isEqualTo(expected.pValue());
                assertThat(found.get("anomalous").booleanValue()).isEqualTo(expected.isAnomalous());
                assertThat(found.get("regions").size())
                        .isEqualTo(expected.regions().size());
                assertThat(found.has("explanation")).isFalse();
            }
        }
    }

    @Test
    void regionsAreInPixelsOfUploadedImage() throws Exception {
        JsonNode found = predict(served, TinyDetector.defective(41), "?explain=true&top=5&nearest=6");
        assertThat(found.get("anomalous").booleanValue()).isTrue();
        JsonNode region = found.get("regions").get(0);
        assertThat(region.get("x").intValue() + region.get("width").intValue()).isLessThanOrEqualTo(90);
        assertThat(region.get("y").intValue() + region.get("height").intValue()).isLessThanOrEqualTo(60);
        String heat = found.get("explanation").get("heat").asString();
        byte[] content = Base64.getDecoder().decode(heat.substring(heat.indexOf(',') + 1));
        assertThat(ImageIO.read(new java.io.ByteArrayInputStream(content)).getWidth())
                .isLessThan(90);
    }

    @Test
    void onnxRuntimeInspectsLikeLibtorch() throws Exception {
        Image image = TinyDetector.defective(42);
        try (Served onnx = serve(model, EngineChoice.ONNX)) {
            assertThat(Served.json(onnx.get("/v1/model")).get("engine").asString())
                    .isEqualTo("onnx");
            assertThat(predict(onnx, image, "").get("score").doubleValue())
                    .isCloseTo(predict(served, image, "").get("score").doubleValue(), within(1e-4));
        }
    }

    @Test
    void unreadableImageGets422AndEmbedGets400() throws Exception {
        byte[] text = "no image".getBytes(StandardCharsets.UTF_8);
        assertThat(check.answer("post", "/v1/predict", served.post("/v1/predict", "image/png", text)))
                .isEqualTo(422);
        assertThat(check.answer("post", "/v1/embed", served.post("/v1/embed", "image/png", png(TinyDetector.image(1)))))
                .isEqualTo(400);
    }

    @Test
    void driftOfOtherImagesIsInModelAndMetrics() throws Exception {
        try (Served fresh = serve(model, EngineChoice.ONNX)) {
            for (int i = 0; i < Drift.FEWEST; i++) {
                JsonNode drift = Served.json(fresh.get("/v1/model")).get("drift");
                assertThat(drift.get("images").intValue()).isEqualTo(i);
                assertThat(drift.get("distance").isNull()).isTrue();
                predict(fresh, TinyDetector.defective(i), "");
            }
            HttpResponse<String> described = fresh.get("/v1/model");
            assertThat(check.answer("get", "/v1/model", described)).isEqualTo(200);
            JsonNode drift = Served.json(described).get("drift");
            assertThat(drift.get("detected").booleanValue()).isTrue();
            String metrics = fresh.get("/metrics").body();
            assertThat(metrics)
                    .contains("gramian_drift_images 100.0", "gramian_p_value_percent_bucket{le=\"5.0\"} 100")
                    .contains("gramian_drift_distance " + drift.get("distance").doubleValue());
        }
    }

    @Test
    void classifierTellsUnknownImagesAndDrift() throws Exception {
        Path file = TinyModel.writeOpenSet(folder.resolve("open.safetensors"), 0.05);
        try (Served open = serve(file, EngineChoice.LIBTORCH)) {
            for (int i = 0; i < Drift.FEWEST; i++) {
                JsonNode found = predict(open, TinyDetector.image(i), "");
                assertThat(found.get("unknown").booleanValue()).isTrue();
                assertThat(found.get("p_value").doubleValue()).isEqualTo(0.05);
                assertThat(found.get("class").asString()).isIn(TinyModel.CLASSES);
            }
            HttpResponse<String> described = open.get("/v1/model");
            assertThat(check.answer("get", "/v1/model", described)).isEqualTo(200);
            JsonNode model = Served.json(described);
            assertThat(model.get("unknownRate").doubleValue()).isEqualTo(0.05);
            assertThat(model.get("knownImages").intValue()).isEqualTo(19);
            assertThat(model.get("drift").get("images").intValue()).isEqualTo(Drift.FEWEST);
        }
    }

    @Test
    void reloadReplacesClassifierByDetector() throws Exception {
        Path file = TinyModel.write(folder.resolve("changing.safetensors"), "center:32");
        try (Served changing = serve(file, EngineChoice.LIBTORCH)) {
            HttpResponse<String> before = changing.get("/v1/model");
            assertThat(check.answer("get", "/v1/model", before)).isEqualTo(200);
            assertThat(Served.json(before).get("kind").asString()).isEqualTo("classifier");
            Path copy = Files.copy(model, folder.resolve("copy"));
            Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
            Served.await(() -> Served.json(changing.get("/v1/model"))
                    .get("kind")
                    .asString()
                    .equals("detector"));
            assertThat(predict(changing, TinyDetector.image(3), "?top=5").has("score"))
                    .isTrue();
        }
    }
}
