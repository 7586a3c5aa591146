package org.gramian.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.gramian.anomaly.Detector;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Conformal;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.Progress;
import org.gramian.export.OpenDetector;
import org.gramian.export.OpenModel;
import org.gramian.model.Classifier;
import org.gramian.model.ModelCard;
import org.gramian.model.OpenSet;
import org.gramian.model.Prediction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian predict}: predicts the classes of images. */
@Command(name = "predict", header = "Classify images.", description = """
    Prints the most probable classes of every image. An unreadable image is reported in its row, and the exit
    code is then 3.
    jsonl: {"image":, "class":, "probability":, "p_value":, "unknown":, "top":[{"class":, "probability":}]} in each line,
    or {"image":, "error":}; csv: image,class,probability,p_value,class_1,probability_1,…,error.
    A detector of anomalies: {"image":, "anomalous":, "score":, "p_value":, "threshold":, "regions":[{"x":, "y":,
    "width":, "height":, "score":}]}; csv: image,anomalous,score,p_value,threshold,error.\
    """)
public final class PredictCommand extends ConsoleCommand {
    /** Class name of a rejected prediction. */
    private static final String UNKNOWN = "unknown";

    private static final Set<String> DETECTOR_OPTIONS = Set.of(
            "--format", "--out", "--false-alarms", "--engine", "--device", "--threads", "--libtorch", "--accelerate");

    /** Largest width of the column of image names. */
    private static final int MAX_NAME_WIDTH = 60;

    @Option(
            names = "--top",
            paramLabel = "K",
            defaultValue = "3",
            description = "number of classes to print (default: ${DEFAULT-VALUE})")
    private int top;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "output format: table, jsonl or csv (default: ${DEFAULT-VALUE})")
    private ResultLines.Format format;

    @Option(
            names = "--reject",
            paramLabel = "P",
            defaultValue = "0",
            description = "predict 'unknown' if the highest probability is below P, e.g. 0.6")
    private double reject;

    @Option(
            names = "--unknown",
            paramLabel = "RATE",
            description =
                    "predict 'unknown' if the p-value is at most RATE: images of no class, and at most this share of"
                            + " others; 0: never (default: the model's own)")
    private @Nullable Double unknown;

    @Option(
            names = "--false-alarms",
            paramLabel = "RATE",
            description = "detector: largest share of good images that is called anomalous (default: the model's own)")
    private @Nullable Double falseAlarms;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FILE",
            description = "output file (default: standard output)")
    private @Nullable Path out;

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "IMAGE|DIR|-",
            description = "images, folders (searched recursively), or '-' to read file names from standard input")
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        ImageInputs images = new ImageInputs(inputs);
        Path file = engine.model();
        AtomicFile.require("--out", out, List.of(file));
        if (OpenDetector.isDetector(file)) {
            console.requireOnly(DETECTOR_OPTIONS, DetectorCommands.describe(file));
            try (Detector detector = engine.detector(file)) {
                Detector used = DetectorCommands.withRate(detector, falseAlarms, console);
                return predict(
                        images,
                        DetectorCommands.columns(),
                        (lines, files, progress) -> DetectorCommands.predict(used, lines, files, progress));
            }
        }
        if (falseAlarms != null) {
            DetectorCommands.requireDetector(file);
        }
        ModelCard card = OpenModel.header(file).card();
        check(card);
        try (OpenModel model = engine.open(file)) {
            Classifier classifier =
                    unknown == null ? model.classifier() : model.classifier().withUnknownRate(unknown);
            return predict(
                    images,
                    columns(Math.min(top, card.classes().size())),
                    (lines, files, progress) -> lines.run(
                            classifier,
                            files,
                            classifier.predicting(),
                            computed -> result(computed.prediction().orElseThrow()),
                            progress));
        }
    }

    /** Computes images and writes their lines. */
    @FunctionalInterface
    private interface Predictor {
        void run(ResultLines lines, List<Path> files, Progress progress);
    }

    private int predict(ImageInputs images, List<String> columns, Predictor predictor) throws IOException {
        List<Path> named = images.isStandardInput() ? List.of() : images.named(console::say);
        AtomicFile.require("--out", out, named);
        try (PrintWriter writer = open()) {
            ResultLines lines = lines(writer, named, columns);
            boolean shown = images.hasFolder() && (out != null || !Console.isOutputTerminal());
            if (images.isStandardInput()) {
                ImageInputs.lines(System.in, names -> predictor.run(lines, paths(names, lines), new Progress.None()));
            } else {
                try (Progress progress = shown ? console.progress("predicting", named.size()) : new Progress.None()) {
                    predictor.run(lines, named, progress);
                }
            }
            return lines.exitCode(console, out == null && Console.isOutputTerminal());
        }
    }

    private static List<String> columns(int classes) {
        List<String> columns = new ArrayList<>(List.of("image", "class", "probability", "p_value"));
        for (int i = 1; i <= classes; i++) {
            columns.add("class_" + i);
            columns.add("probability_" + i);
        }
        columns.add("error");
        return columns;
    }

    private ResultLines lines(PrintWriter writer, List<Path> named, List<String> columns) {
        int widest =
                named.stream().mapToInt(path -> path.toString().length()).max().orElse(0);
        int width = Math.min(widest, MAX_NAME_WIDTH);
        return new ResultLines(
                format,
                writer,
                columns,
                image -> image + " ".repeat(Math.max(0, width - image.length()) + 2),
                out == null ? console.complaints() : console::say);
    }

    private ResultLines.Result result(Prediction prediction) {
        boolean rejected = prediction.probability() < reject || prediction.isUnknown();
        String pValue = prediction.pValue().isPresent()
                ? Double.toString(prediction.pValue().getAsDouble())
                : "";
        String name = rejected ? UNKNOWN : prediction.className();
        List<String> fields = new ArrayList<>(List.of(name, Double.toString(prediction.probability()), pValue));
        List<String> texts = new ArrayList<>();
        for (Prediction.ClassProbability candidate : prediction.top(top)) {
            fields.add(candidate.name());
            fields.add(Double.toString(candidate.probability()));
            texts.add(QuotedText.visible(candidate.name())
                    + String.format(Locale.ROOT, " %.1f %%", 100 * candidate.probability()));
        }
        String text = String.join(", ", texts);
        Map<String, Object> json = prediction.asMap(top);
        json.put("class", name);
        json.put("unknown", rejected);
        return new ResultLines.Result(rejected ? UNKNOWN + "  (best: " + text + ")" : text, json, List.of(fields));
    }

    private void check(ModelCard card) {
        if (top < 1) {
            throw new IllegalArgumentException("--top: expected at least 1, found " + top);
        }
        if (!(reject >= 0 && reject <= 1)) {
            throw new IllegalArgumentException("--reject: expected a probability between 0 and 1, found " + reject);
        }
        if ((reject > 0 || (unknown != null && unknown > 0)) && card.classes().contains(UNKNOWN)) {
            throw new IllegalArgumentException("--reject and --unknown predict '" + UNKNOWN
                    + "', which is a class of this model; leave it out and compare probabilities");
        }
        if (unknown != null) {
            checkUnknown(unknown, card);
        }
        if (card.crops().boxed()) {
            console.say("the model was trained on object boxes; whole images are used as boxes here");
        }
    }

    private void checkUnknown(double rate, ModelCard card) {
        OpenSet.requireRate(rate);
        card.openSet()
                .filter(openSet -> rate > 0 && !openSet.withRate(rate).isPossible())
                .ifPresent(openSet -> console.say(
                        "no image can be unknown: a rate of %s needs %d images of known classes, the model has %d"
                                .formatted(
                                        rate,
                                        Conformal.needed(rate),
                                        openSet.scores().size())));
    }

    /** Standard output stays open for later messages. */
    private PrintWriter open() throws IOException {
        return out == null
                ? new PrintWriter(console.out()) {
                    @Override
                    public void close() {
                        flush();
                    }
                }
                : new PrintWriter(Files.newBufferedWriter(out, StandardCharsets.UTF_8));
    }

    /** Resolves names from standard input; reports invalid names and folders without images. */
    private List<Path> paths(List<String> names, ResultLines lines) {
        List<Path> paths = new ArrayList<>();
        for (String name : names) {
            try {
                paths.addAll(ImageInputs.files(Path.of(name), console::say));
            } catch (InvalidPathException wrong) {
                lines.failed(name, "expected a file name, found: " + wrong.getReason());
            } catch (IOException wrong) {
                lines.failed(name, Failures.sentence(wrong));
            }
        }
        return paths;
    }
}
