package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.gramian.Evaluator;
import org.gramian.anomaly.Detector;
import org.gramian.basis.AtomicFile;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.EvaluationTable;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Version;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.PredictionTable;
import org.gramian.evaluate.compare.TestImages;
import org.gramian.export.OpenDetector;
import org.gramian.export.OpenModel;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.InferencePipeline;
import org.gramian.model.ModelHeader;
import org.gramian.report.ReportFile;
import org.gramian.report.run.ImageSheet;
import org.gramian.report.run.RunData;
import org.gramian.report.run.RunReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian evaluate}: evaluates a model on labelled images. */
@Command(
        name = "evaluate",
        header = "Evaluate a model on labelled images: accuracy, F1, confusion matrix.",
        description = """
                Shows accuracy with its confidence interval, calibration error, precision and recall of every class, the
                confusion matrix and the most confident errors. Evaluates the model's own test set of the dataset that it was
                trained on, and all images of other datasets.
                A detector of anomalies takes a folder with the subfolder good and one subfolder per defect, or the layout of MVTec.
                Classes are matched by name. Unreadable images are skipped and listed; the exit code is then 3.""")
public final class EvaluateCommand extends ConsoleCommand {
    private static final Set<String> DETECTOR_OPTIONS = Set.of(
            "--json", "--csv", "--false-alarms", "--engine", "--device", "--threads", "--libtorch", "--accelerate");

    @Option(
            names = "--protocol",
            paramLabel = "PROTOCOL",
            description = "evaluate the test set of a protocol, e.g. thirds:3 (default: the model's own)")
    private @Nullable String protocol;

    @Option(names = "--fold", paramLabel = "NAME", description = "fold of the protocol, by number or name")
    private @Nullable String fold;

    @Option(names = "--seed", paramLabel = "N", description = "seed of the protocol (default: the model's own, or 0)")
    private @Nullable Long seed;

    @Option(names = "--all", description = "evaluate all images, including the training images")
    private boolean all;

    @Option(
            names = "--crops",
            paramLabel = "PLAN",
            description = "crops: center, resize, paper or ten, optionally :SIZE and +flips (default: the model's own)")
    private @Nullable String plan;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            defaultValue = "" + InferencePipeline.DEFAULT_BATCH,
            description = "batch size (default: ${DEFAULT-VALUE})")
    private int batch;

    @Option(names = "--layout", paramLabel = "LAYOUT", description = "layout, e.g. csv or fmd (default: detected)")
    private @Nullable String layout;

    @Option(
            names = "--labels",
            paramLabel = "LIST",
            description = "labels that replace those of the images, as in training: a CSV file of path,label")
    private @Nullable Path labels;

    @Option(names = "--json", paramLabel = "FILE", description = "also write metrics and scores for 'gramian compare'")
    private @Nullable Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "also write an HTML report with misclassified images")
    private @Nullable Path html;

    @Option(names = "--csv", paramLabel = "FILE", description = "also write every prediction as CSV")
    private @Nullable Path csv;

    @Option(names = "--confusion", paramLabel = "FILE", description = "also write the confusion matrix as CSV")
    private @Nullable Path confusion;

    @Option(
            names = "--false-alarms",
            paramLabel = "RATE",
            description = "detector: largest share of good images that is called anomalous (default: the model's own)")
    private @Nullable Double falseAlarms;

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Parameters(index = "1", paramLabel = "DIR", description = "folder of images, or a CSV file of path,label[,fold]")
    private Path folder;

    @Override
    public Integer call() throws IOException {
        TestImages.Request request = new TestImages.Request(
                Optional.ofNullable(protocol).map(Protocol::parse),
                Optional.ofNullable(fold),
                Optional.ofNullable(seed),
                all);
        Path file = engine.model();
        List<Path> inputs = List.of(file, folder);
        AtomicFile.requireEnding("--json", json, ".json");
        AtomicFile.requireEnding("--html", html, ".html");
        AtomicFile.requireEnding("--csv", csv, ".csv");
        AtomicFile.requireEnding("--confusion", confusion, ".csv");
        AtomicFile.require("--json", json, inputs);
        AtomicFile.require("--html", html, inputs);
        AtomicFile.require("--csv", csv, inputs);
        AtomicFile.require("--confusion", confusion, inputs);
        if (OpenDetector.isDetector(file)) {
            console.requireOnly(DETECTOR_OPTIONS, DetectorCommands.describe(file));
            try (Detector detector = engine.detector(file)) {
                Detector used = DetectorCommands.withRate(detector, falseAlarms, console);
                return DetectorCommands.evaluate(used, folder, console, json, csv);
            }
        }
        if (falseAlarms != null) {
            DetectorCommands.requireDetector(file);
        }
        CropPlan crops = plan == null ? null : CropPlan.parse(plan);
        OpenModel.Request opening = engine.request().withSide(crops == null ? 0 : crops.size());
        try (OpenModel opened = OpenModel.open(file, opening)) {
            Dataset given = Layouts.open(folder, Optional.ofNullable(layout));
            Dataset dataset = labels == null ? given : Layouts.relabelled(given, labels);
            dataset.notes().forEach(note -> console.say(note.text()));
            Evaluator.Measurement measured =
                    measure(opened, crops == null ? opened.card().crops() : crops, dataset, request);
            int code = finish(measured);
            if (html != null) {
                report(html, measured.evaluation(), dataset, file, opened.header());
            }
            return code;
        }
    }

    private Evaluator.Measurement measure(OpenModel opened, CropPlan crops, Dataset dataset, TestImages.Request request)
            throws IOException {
        opened.header().backbone().features(crops.size(), crops.size());
        Evaluator evaluator = Evaluator.of(opened.classifier().withCrops(crops).withBatch(batch));
        TestImages images = TestImages.choose(dataset, opened.card(), request);
        images.remarks().forEach(console::say);
        try (Progress progress = console.progress("evaluating", images.indexes().size())) {
            return evaluator.on(dataset, images, progress);
        }
    }

    private void report(Path page, Evaluation evaluation, Dataset dataset, Path file, ModelHeader header)
            throws IOException {
        RunData material = RunData.of(
                file.getFileName() + " on "
                        + folder.toAbsolutePath().normalize().getFileName(),
                evaluation,
                new RunData.ModelData(file, Files.size(file), header),
                ImageSheet.Thumbnails.of(dataset, new ImageReader(ImageLimits.DEFAULT)::read));
        new ReportFile(page).write(RunReport.html(List.of(material), Version.number()));
        console.say("report: " + page);
    }

    private int finish(Evaluator.Measurement measured) throws IOException {
        measured.unreadable().forEach((name, reason) -> console.warn("skipping " + name + ": " + reason));
        Evaluation evaluation = measured.evaluation();
        int lost = measured.unreadable().size();
        // Printed before the files are written: a file that fails does not lose the result.
        console.print(new EvaluationTable(evaluation).text());
        if (lost > 0) {
            console.out()
                    .printf(
                            "%nskipped as unreadable: %d of %d images%n",
                            lost, lost + evaluation.predictions().size());
        }
        if (json != null) {
            EvaluationFile.write(json, evaluation);
        }
        if (csv != null) {
            PredictionTable.of(evaluation).write(csv);
        }
        if (confusion != null) {
            evaluation.confusion().write(confusion);
        }
        return lost == 0 ? ExitCode.DONE : ExitCode.DATA;
    }
}
