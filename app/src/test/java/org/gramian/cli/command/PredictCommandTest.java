package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.TinyModel;
import org.gramian.cli.common.ExitCode;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PredictCommandTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    private Path folder = Path.of("");

    private Path model = Path.of("");
    private Path photos = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        model = TinyModel.write(folder.resolve("model.safetensors"), "paper:32");
        photos = folder.resolve("photos");
        new ImageFolder(photos).add("b/one.bmp", 1).add("a/deep/two.png", 2).add(".hidden/three.png", 3);
    }

    private Run predict(Object... arguments) {
        List<Object> all = new ArrayList<>(List.of("predict", "--device=cpu", model));
        all.addAll(Arrays.asList(arguments));
        return Run.of(all.toArray());
    }

    private static List<JsonNode> json(Run run) {
        return run.out().lines().map(JSON::readTree).toList();
    }

    @Test
    void predictsAFolderLikeTheClassifier() throws IOException {
        Run run = predict("--format=jsonl", "--top=2", photos).done();
        List<Path> files = List.of(photos.resolve("a/deep/two.png"), photos.resolve("b/one.bmp"));
        List<JsonNode> lines = json(run);
        assertThat(lines).hasSize(2);
        try (Classifier classifier = Classifier.load(model)) {
            for (int i = 0; i < 2; i++) {
                JsonNode line = lines.get(i);
                Prediction answer = classifier.predict(files.get(i));
                assertThat(line.propertyNames()).containsExactly("image", "class", "probability", "unknown", "top");
                assertThat(line.get("image").asString()).isEqualTo(files.get(i).toString());
                assertThat(line.get("class").asString()).isEqualTo(answer.best().name());
                assertThat(line.get("top")).hasSize(2);
                for (int k = 0; k < 2; k++) {
                    JsonNode guess = line.get("top").get(k);
                    Prediction.ClassProbability expected = answer.ranking().get(k);
                    assertThat(guess.get("class").asString()).isEqualTo(expected.name());
                    assertThat(Math.abs(guess.get("probability").asDouble() - expected.probability()))
                            .isLessThan(1e-5);
                }
            }
        }
    }

    @Test
    void printsATableOfOneImage() throws IOException {
        Path image = photos.resolve("b/one.bmp");
        Run run = predict(image).done();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).hasLineCount(1).startsWith(image + "  ");
        assertThat(run.out().split(" %", -1)).hasSize(4);
    }

    @Test
    void reportsUnreadableFilesInTheirPlace() throws IOException {
        new ImageFolder(photos).add("b/broken.jpg", "no image".getBytes(StandardCharsets.UTF_8));
        Run run = predict("--format=jsonl", photos, folder.resolve("absent.png"));
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        List<JsonNode> lines = json(run);
        assertThat(lines.stream().map(line -> line.has("error"))).containsExactly(false, true, false, true);
        assertThat(lines.get(1).propertyNames()).containsExactly("image", "error");
        assertThat(lines.get(1).get("error").asString()).contains("JPEG");
        assertThat(run.err()).has(facts("broken.jpg", "absent.png")).doesNotContain("Exception");
    }

    @Test
    void tableNamesFailureOnce() throws IOException {
        new ImageFolder(photos).add("b/broken.jpg", "no image".getBytes(StandardCharsets.UTF_8));
        Run run = predict(photos);
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        assertThat(run.out()).contains("broken.jpg", "ERROR: ");
        assertThat(run.err()).contains("1 image failed").doesNotContain("broken.jpg");
    }

    @Test
    void csvHasAColumnForEveryField() throws IOException {
        new ImageFolder(photos).add("c, \"d\"/x.bmp", 4).add("z.png", new byte[0]);
        Path out = folder.resolve("out.csv");
        Run run = predict("--format=csv", "--top=9", "--out", out, photos);
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        assertThat(run.out()).isEmpty();
        try (CsvReader<NamedCsvRecord> reader = CsvReader.builder().ofNamedCsvRecord(out)) {
            List<NamedCsvRecord> rows = reader.stream().toList();
            assertThat(rows).hasSize(4);
            assertThat(rows.getFirst().getHeader())
                    .startsWith("image", "class", "probability", "p_value", "class_1", "probability_1")
                    .endsWith("probability_4", "error");
            assertThat(rows.get(2).getField("image")).endsWith("x.bmp");
            assertThat(rows.get(2).getField("class_1")).isEqualTo(rows.get(2).getField("class"));
            assertThat(rows.get(3).getField("error")).contains("empty");
            assertThat(rows.get(3).getField("class")).isEmpty();
        }
    }

    @Test
    void imageOfNoClassIsUnknownAtTheRateOfTheModel() throws IOException {
        model = TinyModel.writeOpenSet(folder.resolve("open.safetensors"), 0.05);
        for (JsonNode line : json(predict("--format=jsonl", photos).done())) {
            assertThat(line.get("class").asString()).isEqualTo("unknown");
            assertThat(line.get("unknown").asBoolean()).isTrue();
            assertThat(line.get("p_value").asDouble()).isEqualTo(0.05);
            assertThat(line.get("top").get(0).get("class").asString()).isIn(TinyModel.CLASSES);
        }
        Run rarer = predict("--format=jsonl", "--unknown=0.01", photos).done();
        assertThat(rarer.err()).contains("99", "19");
        assertThat(json(rarer)).allMatch(line -> !line.get("unknown").asBoolean());
        assertThat(json(rarer))
                .allMatch(line -> TinyModel.CLASSES.contains(line.get("class").asString()));
    }

    @Test
    void exportedModelTellsUnknownImages() throws IOException {
        Path open = TinyModel.writeOpenSet(folder.resolve("open.safetensors"), 0.05);
        model = folder.resolve("open.onnx");
        Run.of("export", open, model).done();
        assertThat(json(predict("--format=jsonl", photos).done()))
                .hasSize(2)
                .allMatch(line -> line.get("unknown").asBoolean());
    }

    @Test
    void modelWithoutDistancesRefusesARateOfUnknownImages() {
        assertThat(predict("--unknown=0.05", photos).code()).isEqualTo(ExitCode.USAGE);
        assertThat(predict("--unknown=1", photos).code()).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void rejectedPredictionIsUnknown() {
        Run sure = predict("--format=jsonl", "--reject=0", photos);
        Run unsure = predict("--format=jsonl", "--reject=1", photos).done();
        for (int i = 0; i < 2; i++) {
            assertThat(json(unsure).get(i).get("class").asString()).isEqualTo("unknown");
            assertThat(json(unsure).get(i).get("top"))
                    .isEqualTo(json(sure).get(i).get("top"));
        }
        assertThat(predict("--reject=1", photos).out()).contains("unknown  (best: ");
    }

    @Test
    void readsNamesAndFoldersFromStandardInput() {
        InputStream former = System.in;
        String names = photos.resolve("b/one.bmp") + "\n\nabsent.png\n" + photos.resolve("a");
        try {
            System.setIn(new ByteArrayInputStream(names.getBytes(StandardCharsets.UTF_8)));
            Run run = predict("--format=jsonl", "-");
            assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.DATA);
            assertThat(json(run).stream().map(line -> line.has("error"))).containsExactlyInAnyOrder(false, true, false);
        } finally {
            System.setIn(former);
        }
    }

    @Test
    void rejectsInvalidOptions() throws IOException {
        predict("--top=0", photos).refused(ExitCode.USAGE, "--top", "1", "0");
        predict("--reject=1.5", photos).refused(ExitCode.USAGE, "0", "1", "1.5");
        predict("--reject=NaN", photos).refused(ExitCode.USAGE, "NaN");
        predict(photos, "-").refused(ExitCode.USAGE, "-");
        predict("--out", model, photos).refused(ExitCode.USAGE, model);
        Path image = photos.resolve("b/one.bmp");
        predict("--out", image, image).refused(ExitCode.USAGE, image);
        Path empty = Files.createDirectory(folder.resolve("empty"));
        predict(empty).refused(ExitCode.DATA, empty);
    }
}
