package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.backbone.Backbone;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.common.EvaluationTable;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FrozenBackbone;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvaluateCommandTest {
    @TempDir
    private Path root = Path.of("");

    private Path photos = Path.of("");
    private Path model = Path.of("");
    private Path json = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        photos = ImageFolder.sound(root.resolve("photos")).root();
        model = root.resolve("model.safetensors");
        json = root.resolve("evaluation.json");
    }

    private FoldSet plan(String protocol, long seed) throws IOException {
        Dataset dataset = Layouts.open(photos);
        return Protocol.parse(protocol).plan(dataset, Duplicates.of(dataset), seed);
    }

    /** A model with random weights that was trained, or so it says, on the first fold. */
    private void write(FoldSet plan) throws IOException {
        Map<String, String> origin = Map.of(
                "protocol", plan.protocol().text(),
                "fold", plan.folds().getFirst().name(),
                "fingerprint", plan.fingerprint().hex(),
                "seed", Long.toString(plan.seed()));
        write(List.of("stone", "glass", "paper"), origin);
    }

    private void write(List<String> classes, Map<String, String> origin) throws IOException {
        Backbone backbone = Backbone.of("filters");
        ModelCard card = new ModelCard(
                classes,
                backbone.preprocessing(),
                CropPlan.parse("paper:24"),
                1.5,
                new LinkedHashMap<>(origin),
                new LinkedHashMap<>());
        Head head = new Head(Pooling.parse("average"), classes.size(), false);
        FrozenBackbone frozen = FrozenBackbone.withoutWeights(backbone, Device.CPU);
        try (Model made = Model.begin(backbone, frozen.parameters(), head, new SplittableRandom(1), Device.CPU)) {
            ModelFile.write(model, made, card);
        }
    }

    private Run evaluate(Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("evaluate", model, photos, "--device", "cpu", "--json", json));
        arguments.addAll(List.of(more));
        return Run.of(arguments.toArray());
    }

    @Test
    void evaluatesTheTestSetOfTheModel() throws IOException {
        FoldSet plan = plan("thirds:3", 4);
        write(plan);
        Path csv = root.resolve("predictions.csv");
        Path confusion = root.resolve("confusion.csv");
        Path html = root.resolve("report.html");
        Run run =
                evaluate("--csv", csv, "--confusion", confusion, "--html", html).done();
        assertThat(html).content().contains("model.safetensors", "photos", "<image id=\"t0\"");
        assertThat(run.err()).has(facts("8", "'third 1'", "thirds:3", "4"));
        Fold fold = plan.folds().getFirst();
        Dataset dataset = Layouts.open(photos);
        Evaluation evaluation = EvaluationFile.read(json);
        assertThat(evaluation.setting()).isEqualTo(Setting.of(plan, fold));
        assertThat(evaluation.classes()).containsExactly("stone", "glass", "paper");
        assertThat(evaluation.predictions().stream().map(ImagePrediction::name))
                .containsExactlyElementsOf(fold.test().stream()
                        .map(index -> dataset.samples().get(index).name())
                        .toList());
        assertThat(run.out()).isEqualTo(new EvaluationTable(evaluation).text());
        assertThat(run.out()).has(facts("1.500"));
        assertThat(Files.readAllLines(csv)).hasSize(1 + fold.test().size());
        assertThat(Files.readAllLines(confusion)).hasSize(4).first().asString().endsWith(",stone,glass,paper");
    }

    @Test
    void evaluatesTrainingImagesOnlyWithAll() throws IOException {
        write(plan("thirds:3", 4));
        evaluate("--fold", "third 2").failed(ExitCode.USAGE, "100 %", "8", "third 1", "thirds:3");
        evaluate("--all", "--seed", 4).failed(ExitCode.USAGE, "protocol", "fold", "seed");
        assertThat(json).doesNotExist();
        Run all = evaluate("--all").done();
        assertThat(all.err()).has(facts("67 %", "16", "24"));
        assertThat(EvaluationFile.read(json).setting()).isEqualTo(Setting.all(Layouts.open(photos)));
    }

    @Test
    void evaluatesOtherDatasets() throws IOException {
        write(plan("thirds:3", 4));
        ImageFolder other = new ImageFolder(root.resolve("other"));
        for (int i = 0; i < 4; i++) {
            other.add("paper/" + i + ".bmp", i + 100).add("glass/" + i + ".bmp", i + 200);
        }
        photos = other.root();
        Run all = evaluate().done();
        assertThat(all.err()).has(facts("thirds:3"));
        assertThat(EvaluationFile.read(json).predictions()).hasSize(8);
        Run half = evaluate("--protocol", "holdout:0.5", "--seed", 2, "--crops", "center:32", "--batch", 3)
                .done();
        FoldSet halves = plan("holdout:0.5", 2);
        assertThat(EvaluationFile.read(json).setting())
                .isEqualTo(Setting.of(halves, halves.folds().getFirst()));
    }

    @Test
    void unreadableImagesAreListedAndCounted() throws IOException {
        write(List.of("stone", "paper"), Map.of());
        Files.writeString(photos.resolve("stone/12.bmp"), "no image");
        Run run = evaluate();
        run.failed(ExitCode.DATA, "stone/12.bmp");
        assertThat(run.out()).has(facts("23", "2", "1", "24"));
        assertThat(EvaluationFile.read(json).predictions()).hasSize(23);
    }

    @Test
    void rejectsInvalidArguments() throws IOException {
        write(List.of("stone", "papers"), Map.of());
        evaluate().failed(ExitCode.DATA, "'paper'", "'papers'", "'stone'", "'papers'");
        evaluate("--confusion", "/absent/a.csv").failed(ExitCode.USAGE, "--confusion", "/absent/a.csv", "/absent");
        evaluate("--protocol", "thrids").failed(ExitCode.USAGE, "thrids", "thirds");
        evaluate("--fold", "third 1").failed(ExitCode.USAGE, "protocol");
        evaluate("--protocol", "thirds:3").failed(ExitCode.USAGE, "'third 1'", "'third 2'", "'third 3'");
        evaluate("--crops", "centre").failed(ExitCode.USAGE, "'centre'", "'center'");
        evaluate("--csv", root.resolve("absent/a.csv")).failed(ExitCode.USAGE, "--csv: ", root.resolve("absent"));
        evaluate("--batch", 0).failed(ExitCode.USAGE, "batch", "1", "0");
        Files.writeString(model, "no model");
        evaluate().failed(ExitCode.MODEL, "model.safetensors");
        photos = root.resolve("absent");
        write(List.of("stone", "paper"), Map.of());
        evaluate().failed(ExitCode.DATA, photos);
        assertThat(json).doesNotExist();
    }
}
