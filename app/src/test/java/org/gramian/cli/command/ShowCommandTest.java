package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ShowCommandTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void printsOneScreen() throws IOException {
        Path model = TinyModel.write(folder.resolve("model.safetensors"), "paper:32");
        Run run = Run.of("show", model).done();
        assertThat(run.out().lines())
                .hasSizeLessThan(40)
                .haveExactly(1, facts("backbone", "filters", "bank"))
                .haveExactly(1, facts("descriptor", "6"))
                .haveExactly(1, facts("crops", "paper:32", "5"))
                .haveExactly(1, facts("temperature", "0.25"))
                .haveExactly(1, facts("classes", "paper, stone, wood, a \"b\", c"))
                .haveExactly(1, facts("accuracy", "75.3 %"))
                .haveExactly(1, facts("seed", "7"))
                .haveExactly(1, facts("configuration", "2", "--json"))
                .haveExactly(1, facts("parameters", "backbone", "pooling", "classifier", "28"));
    }

    @Test
    void printsConfigurationWithAll() throws IOException {
        Path model = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
        assertThat(Run.of("show", model).out()).has(facts("1.2", "--all")).doesNotContain("optimizer.batch");
        assertThat(Run.of("show", "--all", model).out().lines()).haveExactly(1, facts("optimizer.batch", "32"));
    }

    @Test
    void rejectsFoldersOfSeveralModels() throws IOException {
        for (String fold : List.of("fold-1", "fold-2")) {
            Path place = Files.createDirectories(folder.resolve("run").resolve(fold));
            TinyModel.write(place.resolve("model.safetensors"), "center:32");
        }
        Run.of("show", folder.resolve("run"))
                .failed(ExitCode.MODEL, "2", folder.resolve("run/fold-1/model.safetensors"));
        Run none = Run.of("show", folder);
        assertThat(none.code()).isEqualTo(ExitCode.MODEL);
        assertThat(none.err()).has(facts("model.safetensors")).doesNotContain("--resume");
        Files.writeString(folder.resolve("config.yaml"), "");
        assertThat(Run.of("show", folder).err()).has(facts("gramian train --resume", folder));
    }

    @Test
    void jsonIsComplete() throws IOException {
        Path model = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
        Run run = Run.of("show", "--json", model).done();
        JsonNode json = JsonMapper.builder().build().readTree(run.out());
        assertThat(json.get("classes")).hasSize(4);
        assertThat(json.get("origin").get("configuration").asString()).isEqualTo("epochs: 9\nbatch: 32\n");
        assertThat(json.get("metrics").get("accuracy").asDouble()).isEqualTo(0.753);
        assertThat(json.get("temperature").asDouble()).isEqualTo(0.25);
        JsonNode parameters = json.get("parameters");
        assertThat(parameters.get("all").asLong())
                .isEqualTo(parameters.get("backbone").asLong()
                        + parameters.get("pooling").asLong()
                        + parameters.get("classifier").asLong());
    }
}
