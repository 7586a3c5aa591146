package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.TinyRun;
import org.gramian.cli.common.ExitCode;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(TinyRun.class)
class NearestCommandTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    private static Path folder = Path.of("");

    private static Run nearest(Object... arguments) {
        List<Object> all = new ArrayList<>(List.of("nearest", "--device=cpu"));
        all.addAll(Arrays.asList(arguments));
        return Run.of(all.toArray());
    }

    private static List<Item> trainedOn() throws IOException {
        return Gallery.read(TinyRun.folder().resolve(Gallery.FILE)).items().stream()
                .filter(item -> item.subset() == Subset.TRAINING)
                .toList();
    }

    @Test
    void trainingImageIsNearestToItself() throws IOException {
        Run found = nearest(
                        "--format=jsonl",
                        "--top=2",
                        TinyRun.folder(),
                        TinyRun.training().images().root())
                .done();
        List<JsonNode> lines = found.out().lines().map(JSON::readTree).toList();
        for (Item item : trainedOn()) {
            JsonNode line = lines.stream()
                    .filter(one -> one.get("image").asString().endsWith(item.name()))
                    .findFirst()
                    .orElseThrow();
            assertThat(line.get("nearest")).hasSize(2);
            JsonNode first = line.get("nearest").get(0);
            assertThat(first.get("name").asString()).isEqualTo(item.name());
            assertThat(item.name()).startsWith(first.get("class").asString());
            assertThat(first.get("distance").asDouble()).isLessThan(2e-3);
            assertThat(line.get("nearest").get(1).get("distance").asDouble())
                    .isGreaterThanOrEqualTo(first.get("distance").asDouble());
        }
    }

    @Test
    void reportsUnreadableFilesInTheirPlace() throws IOException {
        Path bad = folder.resolve("bad.jpg");
        Files.writeString(bad, "no image");
        Path good = TinyRun.training()
                .images()
                .root()
                .resolve(trainedOn().getFirst().name());
        Run found = nearest("--format=csv", "--top=1", TinyRun.folder(), bad, good);
        assertThat(found.code()).isEqualTo(ExitCode.DATA);
        assertThat(found.err()).contains("bad.jpg");
        try (CsvReader<NamedCsvRecord> rows = CsvReader.builder().ofNamedCsvRecord(found.out())) {
            List<NamedCsvRecord> all = rows.stream().toList();
            assertThat(all).hasSize(2);
            assertThat(all.getFirst().getField("error")).isNotEmpty();
            assertThat(all.getLast().getField("name"))
                    .isEqualTo(trainedOn().getFirst().name());
        }
    }

    @Test
    void rejectsModelsWithoutTheirGallery() throws IOException {
        Path alone = TinyModel.write(folder.resolve("alone.safetensors"), "center:32");
        Path other = Files.createDirectories(folder.resolve("other"));
        Path model = Files.copy(alone, other.resolve("model.safetensors"));
        Run missing = nearest(model, TinyRun.training().images().root());
        assertThat(missing.code()).isEqualTo(ExitCode.MODEL);
        assertThat(missing.err())
                .contains("gallery.safetensors")
                .contains("--no-gallery")
                .contains("--resume");
        Files.copy(TinyRun.folder().resolve(Gallery.FILE), other.resolve(Gallery.FILE));
        Run wrong = nearest(model, TinyRun.training().images().root());
        assertThat(wrong.code()).isEqualTo(ExitCode.MODEL);
        assertThat(wrong.err()).contains("model.safetensors", "--resume");
    }

    @Test
    void rejectsOnnxFiles() {
        nearest(folder.resolve("model.onnx"), TinyRun.training().images().root())
                .failed(ExitCode.MODEL, "gramian train", "ONNX");
    }
}
