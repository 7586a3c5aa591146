package org.gramian.cli.predict;

import org.gramian.cli.common.Console;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.OutputCheck;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Terminal;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.gramian.basis.QuotedText;
import org.gramian.image.batch.ImageSource;
import org.gramian.inference.OpenModel;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelCard;
import org.gramian.model.Prediction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian predict}: predicts the classes of images. */
@Command(
        name = "predict",
        mixinStandardHelpOptions = true,
        header = "Classify images.",
        description = {
            "Prints the most probable classes of every image. An unreadable image is reported in its row, and the exit",
            "code is then 3.",
            "jsonl: {\"picture\":, \"class\":, \"probability\":, \"top\":[{\"class\":, \"probability\":}]} in each line,",
            "or {\"picture\":, \"error\":}; csv: picture,class,probability,class_1,probability_1,…,error."
        })
public final class PredictCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

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
    @SuppressWarnings("NullAway.Init") // set by picocli
    private PredictionLines.Format format;

    @Option(
            names = "--reject",
            paramLabel = "P",
            defaultValue = "0",
            description = "predict 'unknown' if the highest probability is below P, e.g. 0.6")
    private double reject;

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
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        ImageInputs images = new ImageInputs(inputs);
        Path file = engine.model();
        ModelCard card = OpenModel.header(file).card();
        check(card, file);
        List<Path> named = images.isStandardInput() ? List.of() : images.named(console::say);
        int widest =
                named.stream().mapToInt(path -> path.toString().length()).max().orElse(0);
        try (PrintWriter lines = open();
                OpenModel model = engine.open(file)) {
            PredictionLines shown =
                    format.of(lines, widest, Math.min(top, card.classes().size()));
            Results results = new Results(shown, lines);
            if (images.isStandardInput()) {
                ImageInputs.lines(
                        System.in, names -> predict(model.classifier(), paths(names, results), results, _ -> {}));
            } else if (!images.hasFolder() || (out == null && Terminal.isStandardOutput())) {
                predict(model.classifier(), named, results, _ -> {});
            } else {
                try (Progress progress = console.progress("predicting", named.size())) {
                    predict(model.classifier(), named, results, progress);
                }
            }
            return results.failures == 0 ? ExitCode.DONE : ExitCode.DATA;
        }
    }

    private void check(ModelCard card, Path file) throws IOException {
        if (top < 1) {
            throw new IllegalArgumentException("--top: expected at least 1, found " + top);
        }
        if (!(reject >= 0 && reject <= 1)) {
            throw new IllegalArgumentException("--reject: expected a probability between 0 and 1, found " + reject);
        }
        if (reject > 0 && card.classes().contains(PredictionLines.UNKNOWN)) {
            throw new IllegalArgumentException("--reject predicts '" + PredictionLines.UNKNOWN
                    + "', which is a class of this model; leave it out and compare probabilities");
        }
        if (out != null && Files.exists(out) && Files.isSameFile(out, file)) {
            throw new IllegalArgumentException("--out would overwrite the model " + file);
        }
        if (card.crops().boxed()) {
            console.say("the model was trained on object boxes; whole images are used as boxes here");
        }
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

    private static void predict(Classifier classifier, List<Path> files, Results results, LongConsumer progress) {
        List<ImageSource> images = files.stream().map(ImageSource::of).toList();
        classifier.run(images, Set.of(Engine.Rows.SCORES), (index, result) -> {
            results.add(images.get(index).name(), result);
            progress.accept(index + 1L);
        });
    }

    /** Writes a line for each image as soon as it is computed, and counts the failed ones. */
    private final class Results {
        private final PredictionLines lines;
        private final PrintWriter writer;
        private int failures;

        Results(PredictionLines lines, PrintWriter writer) {
            this.lines = lines;
            this.writer = writer;
            lines.begin();
            writer.flush();
        }

        void add(String image, ImageResult result) {
            switch (result) {
                case ImageResult.Computed computed -> {
                    Prediction prediction = computed.prediction().orElseThrow();
                    lines.predicted(image, PredictionLines.Row.of(prediction, top, reject));
                    OutputCheck.require(writer);
                }
                case ImageResult.Failed failed -> failed(image, failed.reason());
            }
        }

        void failed(String image, String reason) {
            failures++;
            lines.failed(image, reason);
            String message = QuotedText.visible(image + ": " + reason);
            if (out == null) {
                console.complaints().accept(message);
            } else {
                console.say(message);
            }
            OutputCheck.require(writer);
        }
    }

    /** Resolves names from standard input; reports invalid names and folders without images. */
    private List<Path> paths(List<String> names, Results results) {
        List<Path> paths = new ArrayList<>();
        for (String name : names) {
            try {
                paths.addAll(ImageInputs.files(Path.of(name), console::say));
            } catch (InvalidPathException wrong) {
                results.failed(name, "expected a file name, found: " + wrong.getReason());
            } catch (IOException wrong) {
                results.failed(name, Failures.sentence(wrong));
            }
        }
        return paths;
    }
}
