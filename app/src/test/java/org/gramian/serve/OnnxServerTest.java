package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.OptionalDouble;
import org.gramian.cli.TinyModel;
import org.gramian.export.OpenModel;
import org.gramian.export.OpenModel.EngineChoice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class OnnxServerTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void onnxRuntimePredictsLikeLibtorchAndLibtorchExplains() throws Exception {
        Path file = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
        JsonNode expected = ask(file, EngineChoice.LIBTORCH, "libtorch");
        JsonNode found = ask(file, EngineChoice.AUTO, "onnx");
        assertThat(found.get("class")).isEqualTo(expected.get("class"));
        assertThat(found.get("probability").asDouble())
                .isCloseTo(expected.get("probability").asDouble(), within(1e-5));
    }

    private static JsonNode ask(Path file, EngineChoice choice, String name) throws Exception {
        LoadedModel.Source source =
                LoadedModel.Source.of(file, OpenModel.Request.of(choice).withGradients(), OptionalDouble.empty());
        Server server = Server.start(ServeOptions.local(0), source, Server.Listener.NONE);
        try (Served served = new Served(server, HttpClient.newHttpClient())) {
            JsonNode model = Served.json(served.get("/v1/model"));
            assertThat(model.get("engine").asString()).isEqualTo(name);
            assertThat(model.get("explain").asBoolean()).isTrue();
            HttpResponse<String> answer = served.post("/v1/predict?explain=true", "image/png", Served.png(3));
            assertThat(answer.statusCode()).isEqualTo(200);
            return Served.json(answer).get("results").get(0);
        }
    }
}
