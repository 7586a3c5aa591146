package org.gramian.cli.predict;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EngineOptions;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.OutputCheck;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Terminal;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageSource;
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
            "jsonl: {\"image\":, \"class\":, \"probability\":, \"top\":[{\"class\":, \"probability\":}]} in each line,",
            "or {\"image\":, \"error\":}; csv: image,class,probability,class_1,probability_1,…,error."
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

    @Option(
            names = "--scaled-jpeg",
            description =
                    "let libjpeg-turbo decode JPEGs that are four times as large as needed at a half, a quarter or"
                            + " an eighth of their size: faster for photos, probabilities differ a little")
    private boolean scaledJpeg;

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
        ImageReader reader = reader(card);
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
                        System.in,
                        names -> predict(model.classifier(), reader, paths(names, results), results, _ -> {}));
            } else if (!images.hasFolder() || (out == null && Terminal.isStandardOutput())) {
                predict(model.classifier(), reader, named, results, _ -> {});
            } else {
                try (Progress progress = console.progress("predicting", named.size())) {
                    predict(model.classifier(), reader, named, results, progress);
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

    /** Returns the reader of the images; fails before an output file is opened. */
    private ImageReader reader(ModelCard card) {
        ImageReader whole = new ImageReader(ImageLimits.DEFAULT);
        try {
            return scaledJpeg ? whole.withScaledJpegs(card.crops().testing().resizedSide()) : whole;
        } catch (IllegalStateException missing) {
            throw new IllegalArgumentException("--scaled-jpeg: " + missing.getMessage(), missing);
        }
    }

    private static void predict(
            Classifier classifier, ImageReader reader, List<Path> files, Results results, LongConsumer progress) {
        List<ImageSource> images = files.stream()
                .map(file -> ImageSource.of(file.toString(), () -> reader.read(file)))
                .toList();
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

    /** Output formats of {@code gramian predict}: a line for each image, as soon as it is computed. */
    sealed interface PredictionLines {
        /** Class name of a rejected prediction. */
        String UNKNOWN = "unknown";

        /**
         * Prediction of one image as it is printed.
         *
         * @param name the most probable class, or {@value #UNKNOWN} if it was rejected
         * @param probability of the most probable class, also if it was rejected
         * @param top the most probable classes
         * @param rejected whether the probability is below the threshold
         */
        record Row(String name, double probability, List<Prediction.ClassProbability> top, boolean rejected) {
            /**
             * @param count number of classes to print
             * @param reject threshold of the probability
             */
            static Row of(Prediction prediction, int count, double reject) {
                boolean rejected = prediction.probability() < reject;
                return new Row(
                        rejected ? UNKNOWN : prediction.className(),
                        prediction.probability(),
                        prediction.top(count),
                        rejected);
            }
        }

        /** Names of the formats. */
        enum Format {
            TABLE,
            JSONL,
            CSV;

            /**
             * @param widest length of the longest known image name
             * @param top number of classes to print
             */
            PredictionLines of(PrintWriter out, int widest, int top) {
                return switch (this) {
                    case TABLE -> new Table(out, Math.min(widest, Table.WIDEST));
                    case JSONL -> new Json(out);
                    case CSV ->
                        new Csv(
                                CsvWriter.builder()
                                        .lineDelimiter(LineDelimiter.LF)
                                        .bufferSize(0)
                                        .build(out),
                                top);
                };
            }
        }

        /** Writes the header. */
        void begin();

        void predicted(String image, Row row);

        void failed(String image, String reason);

        /** Text: the image, then its most probable classes with probabilities. */
        record Table(PrintWriter out, int width) implements PredictionLines {
            private static final int WIDEST = 60;

            @Override
            public void begin() {}

            @Override
            public void predicted(String image, Row row) {
                StringBuilder line = new StringBuilder(named(image));
                line.append(row.rejected() ? UNKNOWN + "  (best: " : "");
                for (int i = 0; i < row.top().size(); i++) {
                    Prediction.ClassProbability candidate = row.top().get(i);
                    line.append(i == 0 ? "" : ", ")
                            .append(QuotedText.visible(candidate.name()))
                            .append(String.format(Locale.ROOT, " %.1f %%", 100 * candidate.probability()));
                }
                out.println(line.append(row.rejected() ? ")" : ""));
            }

            @Override
            public void failed(String image, String reason) {
                out.println(named(image) + "ERROR: " + QuotedText.visible(reason));
            }

            private String named(String image) {
                String visible = QuotedText.visible(image);
                return visible + " ".repeat(Math.max(0, width - visible.length()) + 2);
            }
        }

        /** JSON Lines: one object per image. */
        record Json(PrintWriter out) implements PredictionLines {
            @Override
            public void begin() {}

            @Override
            public void predicted(String image, Row row) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("image", image);
                line.put("class", row.name());
                line.put("probability", row.probability());
                line.put("top", row.top().stream().map(Json::object).toList());
                out.println(JsonText.of(line));
            }

            private static Map<String, Object> object(Prediction.ClassProbability candidate) {
                Map<String, Object> object = new LinkedHashMap<>();
                object.put("class", candidate.name());
                object.put("probability", candidate.probability());
                return object;
            }

            @Override
            public void failed(String image, String reason) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("image", image);
                line.put("error", reason);
                out.println(JsonText.of(line));
            }
        }

        /** CSV: {@code image,class,probability,class_1,probability_1,…,error}. */
        record Csv(CsvWriter csv, int top) implements PredictionLines {
            @Override
            public void begin() {
                List<String> names = new ArrayList<>(List.of("image", "class", "probability"));
                for (int i = 1; i <= top; i++) {
                    names.add("class_" + i);
                    names.add("probability_" + i);
                }
                names.add("error");
                csv.writeRecord(names);
            }

            @Override
            public void predicted(String image, Row row) {
                List<String> fields = new ArrayList<>(List.of(image, row.name(), Double.toString(row.probability())));
                for (Prediction.ClassProbability candidate : row.top()) {
                    fields.add(candidate.name());
                    fields.add(Double.toString(candidate.probability()));
                }
                fields.add("");
                csv.writeRecord(CsvText.safe(fields));
            }

            @Override
            public void failed(String image, String reason) {
                List<String> fields = new ArrayList<>(List.of(image));
                for (int i = 0; i < 2 + 2 * top; i++) {
                    fields.add("");
                }
                fields.add(reason);
                csv.writeRecord(CsvText.safe(fields));
            }
        }
    }
}
