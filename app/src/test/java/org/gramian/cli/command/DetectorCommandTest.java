package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code train}, {@code predict}, {@code evaluate}, {@code explain} and {@code show} of a detector of anomalies. */
class DetectorCommandTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    static Path root = Path.of("");

    private static Path dataset = Path.of("");
    private static Path run = Path.of("");
    private static Run trained = new Run(0, "", "");

    /** Writes stripes with noise, on request with a dark square at 40,30. */
    private static void write(Path file, int seed, boolean defect) throws IOException {
        BufferedImage image = new BufferedImage(96, 96, BufferedImage.TYPE_INT_RGB);
        SplittableRandom random = new SplittableRandom(seed);
        for (int y = 0; y < 96; y++) {
            for (int x = 0; x < 96; x++) {
                boolean inside = defect && x >= 40 && x < 64 && y >= 30 && y < 54;
                int grey = inside ? 20 + random.nextInt(24) : 100 + 40 * (x / 6 % 2) + random.nextInt(24);
                image.setRGB(x, y, grey << 16 | grey << 8 | grey);
            }
        }
        Files.createDirectories(file.getParent());
        ImageIO.write(image, "png", file.toFile());
    }

    private static void writeMask(Path file) throws IOException {
        BufferedImage image = new BufferedImage(96, 96, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 24 * 24; i++) {
            image.setRGB(40 + i % 24, 30 + i / 24, 0xffffff);
        }
        Files.createDirectories(file.getParent());
        ImageIO.write(image, "png", file.toFile());
    }

    private static Run train(Path folder, Path out, String... more) {
        List<String> line = new ArrayList<>(List.of(
                "train", folder.toString(), "--out", out.toString(), "--backbone", "gramian-s", "--device", "cpu"));
        line.addAll(List.of("--image-size", "64", "--seed", "3"));
        line.addAll(List.of(more));
        return Run.of(line.toArray());
    }

    @BeforeAll
    static void trainDetector() throws IOException {
        dataset = root.resolve("dataset");
        for (int i = 0; i < 20; i++) {
            write(dataset.resolve("train/good/" + i + ".png"), i, false);
        }
        for (int i = 0; i < 6; i++) {
            write(dataset.resolve("test/good/" + i + ".png"), 100 + i, false);
            write(dataset.resolve("test/hole/" + i + ".png"), 200 + i, true);
            writeMask(dataset.resolve("ground_truth/hole/" + i + "_mask.png"));
        }
        run = root.resolve("run");
        trained = train(dataset, run, "--false-alarms", "0.05").done();
    }

    private static JsonNode json(Path file) throws IOException {
        return JSON.readTree(Files.readString(file));
    }

    private static Path defective() {
        return dataset.resolve("test/hole/0.png");
    }

    @Test
    void runFolderHoldsModelChoiceAndMeasures() throws IOException {
        assertThat(TinyTraining.names(run))
                .contains("model.safetensors", "config.json", "candidates.json", "evaluation.json", "predictions.csv");
        JsonNode candidates = json(run.resolve("candidates.json"));
        assertThat(candidates.valueStream().filter(one -> one.get("chosen").booleanValue()))
                .hasSize(1);
        assertThat(candidates.get(0).propertyNames()).containsExactlyInAnyOrder("name", "auroc", "error", "chosen");
        JsonNode measures = json(run.resolve("evaluation.json"));
        assertThat(measures.get("image_auroc").doubleValue()).isGreaterThan(0.95);
        assertThat(measures.get("pixel_auroc").doubleValue()).isGreaterThan(0.8);
        assertThat(measures.get("recall").doubleValue()).isGreaterThan(0.8);
        assertThat(measures.get("false_alarms_95").get("high").doubleValue())
                .isGreaterThanOrEqualTo(measures.get("false_alarms").doubleValue());
        assertThat(Files.readAllLines(run.resolve("predictions.csv")))
                .hasSize(13)
                .first()
                .isEqualTo("image,kind,score,p_value,anomalous");
        assertThat(json(run.resolve("config.json")).get("false_alarms").doubleValue())
                .isEqualTo(0.05);
    }

    @Test
    void reportShowsChoiceMeasuresAndMaps() throws IOException {
        String written = Files.readString(run.resolve("report.html"));
        Path again = root.resolve("again.html");
        Run.of("report", run, "--out", again).done();
        assertThat(Files.readString(again)).isEqualTo(written);
        assertThat(written).contains("gaussian", "image AUROC", "hole").containsPattern("(?s)(data:image/jpeg.*){12}");
        assertThat(written).doesNotContain("<script").contains("default-src 'none'");
    }

    @Test
    void reportOfMissingImagesNamesThem() throws IOException {
        Path copy = Files.createDirectories(root.resolve("moved"));
        for (String name : List.of("model.safetensors", "candidates.json", "config.json", "evaluation.json")) {
            String text = name.endsWith("json") ? Files.readString(run.resolve(name)) : "";
            if (text.isEmpty()) {
                Files.copy(run.resolve(name), copy.resolve(name));
            } else {
                Files.writeString(copy.resolve(name), text.replace("dataset", "elsewhere"));
            }
        }
        Run.of("report", copy).done();
        assertThat(Files.readString(copy.resolve("report.html")))
                .contains("image not found")
                .doesNotContain("data:image");
        Run.of("report", copy, run).refused(ExitCode.MODEL, "detector");
    }

    @Test
    void predictionHasRegionAtDefect() throws IOException {
        Run predicted = Run.of("predict", run, defective(), dataset.resolve("test/good/0.png"), "--format", "jsonl")
                .done();
        List<JsonNode> lines = predicted.out().lines().map(JSON::readTree).toList();
        assertThat(lines).hasSize(2);
        JsonNode found = lines.getFirst();
        assertThat(found.propertyNames())
                .containsExactly("image", "anomalous", "score", "p_value", "threshold", "regions");
        assertThat(found.get("anomalous").booleanValue()).isTrue();
        JsonNode region = found.get("regions").get(0);
        assertThat(region.propertyNames()).containsExactlyInAnyOrder("x", "y", "width", "height", "score");
        assertThat(region.get("x").intValue()).isLessThan(64);
        assertThat(region.get("x").intValue() + region.get("width").intValue()).isGreaterThan(40);
        assertThat(lines.getLast().get("score").doubleValue())
                .isLessThan(found.get("score").doubleValue());
    }

    @Test
    void rateOfFalseAlarmsOverridesThatOfModel() {
        Run strict = Run.of("predict", run, defective(), "--format", "jsonl", "--false-alarms", "0.001")
                .done();
        JsonNode line = JSON.readTree(strict.out());
        assertThat(line.get("anomalous").booleanValue()).isFalse(); // 20 images cannot give p <= 0.001
        assertThat(line.get("threshold").isNull()).isTrue();
        assertThat(strict.err()).contains("999", "20");
        Run.of("predict", run, defective(), "--false-alarms", "2").refused(ExitCode.USAGE, "2.0");
    }

    @Test
    void csvHasRowForUnreadableImage() throws IOException {
        Path text = Files.writeString(root.resolve("text.png"), "no image");
        Run predicted = Run.of("predict", run, defective(), text, "--format", "csv");
        assertThat(predicted.code()).isEqualTo(ExitCode.DATA);
        List<String> lines = predicted.out().lines().toList();
        assertThat(lines.getFirst()).isEqualTo("image,anomalous,score,p_value,threshold,error");
        assertThat(lines.get(1)).startsWith(defective() + ",true,");
        assertThat(lines.get(2)).startsWith(text + ",,,,,");
    }

    @Test
    void evaluationOfOtherFolderEqualsThatOfTraining() throws IOException {
        Path file = root.resolve("measures.json");
        Run.of("evaluate", run, dataset, "--json", file).done();
        assertThat(json(file)).isEqualTo(json(run.resolve("evaluation.json")));
        Run.of("evaluate", run, dataset.resolve("train"), "--json", file).done();
        assertThat(json(file).get("image_auroc").isNull()).isTrue();
        Run.of("evaluate", run, dataset.resolve("test/good")).refused(ExitCode.DATA, "good");
    }

    @Test
    void explanationDrawsBoxAroundDefect() throws IOException {
        Path png = root.resolve("map.png");
        Run.of("explain", run, defective(), png).done();
        BufferedImage drawn = ImageIO.read(png.toFile());
        assertThat(drawn.getWidth()).isEqualTo(96);
        long white = IntStream.range(0, 96 * 96)
                .filter(i -> (drawn.getRGB(i % 96, i / 96) & 0xffffff) == 0xffffff)
                .count();
        assertThat(white).isGreaterThan(20); // the source has no white pixels
    }

    @Test
    void cardHasOriginWithoutTime() {
        JsonNode card = JSON.readTree(Run.of("show", run, "--json").done().out());
        assertThat(card.get("backbone").stringValue()).isEqualTo("gramian-s");
        assertThat(card.get("seed").stringValue()).isEqualTo("3");
        assertThat(card.get("images").stringValue()).isEqualTo("20");
        assertThat(card.get("weights").stringValue()).hasSize(64);
        assertThat(card.get("false alarms").doubleValue()).isEqualTo(0.05);
    }

    @Test
    void trainingTwiceGivesSameBytes() throws IOException {
        Path again = root.resolve("again");
        train(dataset, again, "--false-alarms", "0.05", "--no-report").done();
        assertThat(again.resolve("model.safetensors")).hasSameBinaryContentAs(run.resolve("model.safetensors"));
    }

    @Test
    void fewGoodImagesAreWarnedAbout() {
        assertThat(trained.err()).doesNotContain("no image can be anomalous");
        Run few = train(
                dataset.resolve("train/good"),
                root.resolve("few"),
                "--no-report",
                "--defects",
                dataset.resolve("test/hole") + "");
        assertThat(few.done().err()).contains("99", "20", "0.0476");
        assertThat(root.resolve("few/evaluation.json")).doesNotExist();
    }

    @Test
    void imagesOfOtherAspectRatioAreCounted() throws IOException {
        Path mixed = root.resolve("mixed");
        for (int i = 0; i < 6; i++) {
            write(mixed.resolve(i + ".png"), i, false);
        }
        ImageIO.write(
                new BufferedImage(200, 60, BufferedImage.TYPE_INT_RGB),
                "png",
                mixed.resolve("wide.png").toFile());
        assertThat(train(mixed, root.resolve("of-mixed"), "--no-report").done().err())
                .contains("1 of 7", "96×96");
        assertThat(root.resolve("of-mixed/report.html")).doesNotExist();
    }

    @Test
    void oneClassFolderAndGoodOnlyTrainDetector() {
        assertThat(train(dataset.resolve("train"), root.resolve("dry"), "--dry-run")
                        .done()
                        .out())
                .contains("one class");
        assertThat(train(dataset.resolve("test"), root.resolve("dry"), "--dry-run", "--good-only")
                        .done()
                        .out())
                .contains("--good-only");
        assertThat(root.resolve("dry")).doesNotExist();
    }

    @Test
    void refusesOptionsOfClassifiersAndOfDetectors() {
        Path out = root.resolve("refused");
        train(dataset, out, "--pooling", "average", "--epochs", "3").refused(ExitCode.USAGE, "--pooling", "--epochs");
        train(dataset.resolve("test"), out, "--tile", "128").refused(ExitCode.USAGE, "--tile", "--good-only");
        train(dataset, out, "--tile", "3").refused(ExitCode.USAGE, "64", "3");
        Run.of("predict", run, defective(), "--reject", "0.5").refused(ExitCode.USAGE, "--reject");
        Run.of("evaluate", run, dataset, "--html", root.resolve("x.html")).refused(ExitCode.USAGE, "--html");
        assertThat(out).doesNotExist();
    }

    @Test
    void refusesTooFewImages() throws IOException {
        Path three = root.resolve("three");
        for (int i = 0; i < 3; i++) {
            write(three.resolve(i + ".png"), i, false);
        }
        train(three, root.resolve("of-three")).refused(ExitCode.DATA, "5", "3");
        assertThat(root.resolve("of-three")).doesNotExist();
        for (int i = 3; i < 8; i++) {
            Files.writeString(three.resolve(i + ".png"), "no image");
        }
        Run unreadable = train(three, root.resolve("of-three"));
        assertThat(unreadable.code()).as(unreadable.err()).isEqualTo(ExitCode.DATA);
        assertThat(root.resolve("of-three")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "embed MODEL DIR OUT.csv",
                "nearest MODEL IMAGE",
                "report MODEL MODEL",
                "compare MODEL MODEL",
                "train --resume MODEL"
            })
    void otherCommandsRefuseDetector(String command) {
        Object[] words = Stream.of(command.split(" ", -1))
                .map(word -> switch (word) {
                    case "MODEL" -> run;
                    case "DIR" -> dataset;
                    case "IMAGE" -> defective();
                    case "OUT.csv" -> root.resolve(word);
                    default -> word;
                })
                .toArray();
        Run refused = Run.of(words);
        assertThat(refused.code()).as(refused.err()).isIn(ExitCode.MODEL, ExitCode.USAGE, ExitCode.DATA);
        assertThat(refused.err())
                .contains(run.toString())
                .doesNotContain("internal error")
                .hasLineCount(1);
    }
}
