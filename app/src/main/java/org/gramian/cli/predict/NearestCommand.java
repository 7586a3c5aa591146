package org.gramian.cli.predict;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
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
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.MissingModelException;
import org.gramian.cli.common.OutputCheck;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Terminal;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.NearestImages;
import org.gramian.gallery.NearestImages.Match;
import org.gramian.gallery.Part;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian nearest}: finds the training images nearest to an image. */
@Command(
        name = "nearest",
        mixinStandardHelpOptions = true,
        header = "Find the training images nearest to an image.",
        description = {
            "Compares descriptors with the gallery of training images that 'gramian train' stores beside the model, and prints",
            "the nearest ones with class and Euclidean distance of unit vectors: 0 is identical, 1.41 is orthogonal.",
            "An unreadable image is reported in its row, and the exit code is then 3.",
            "jsonl: {\"image\":, \"nearest\":[{\"name\":, \"class\":, \"distance\":}]} in each line, or {\"image\":, \"error\":};",
            "csv: image,rank,name,class,distance,error."
        })
public final class NearestCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--top",
            paramLabel = "K",
            defaultValue = "5",
            description = "number of training images to print (default: ${DEFAULT-VALUE})")
    private int top;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "output format: table, jsonl or csv (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private NearestLines.Format format;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "IMAGE|DIR",
            description = "images, or folders (searched recursively)")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> inputs;

    @Override
    public Integer call() throws IOException {
        if (top < 1) {
            throw new IllegalArgumentException("--top: expected at least 1, found " + top);
        }
        Path file = model.notExported();
        ModelFile.header(file); // reports a broken model before a missing gallery
        Gallery gallery = Gallery.beside(file).orElseThrow(() -> missing(file));
        int left = gallery.leftOut(Part.TRAINING);
        if (left > 0) {
            console.say("the gallery is a sample of the training images; " + left + " are not in it");
        }
        ImageInputs images = new ImageInputs(inputs);
        List<Path> named = images.named(console::say);
        try (Classifier classifier = Classifier.load(file, torch.prepare())) {
            Search search = new Search(NearestImages.of(gallery), format.of(console.out()));
            if (!images.hasFolder() || Terminal.isStandardOutput()) {
                search.run(classifier, named, _ -> {});
            } else {
                try (Progress progress = console.progress("searching", named.size())) {
                    search.run(classifier, named, progress);
                }
            }
            return search.failures == 0 ? ExitCode.DONE : ExitCode.DATA;
        }
    }

    /** Writes the matches of each image as soon as it is computed, and counts the failed ones. */
    private final class Search {
        private final NearestImages training;
        private final NearestLines lines;
        private int failures;

        Search(NearestImages training, NearestLines lines) {
            this.training = training;
            this.lines = lines;
            lines.begin();
        }

        void run(Classifier classifier, List<Path> files, LongConsumer progress) {
            List<ImageSource> images = files.stream().map(ImageSource::of).toList();
            classifier.run(images, Set.of(Engine.Rows.DESCRIPTORS), (index, result) -> {
                add(images.get(index).name(), result);
                progress.accept(index + 1L);
            });
        }

        private void add(String image, ImageResult result) {
            switch (result) {
                case ImageResult.Computed computed -> {
                    try {
                        lines.found(image, training.nearest(computed.of(Engine.Rows.DESCRIPTORS), top));
                    } catch (IllegalArgumentException notFinite) {
                        failed(image, String.valueOf(notFinite.getMessage()));
                    }
                }
                case ImageResult.Failed failed -> failed(image, failed.reason());
            }
            OutputCheck.require(console.out());
        }

        private void failed(String image, String reason) {
            failures++;
            lines.failed(image, reason);
            console.complaints().accept(QuotedText.visible(image + ": " + reason));
        }
    }

    private static IOException missing(Path model) {
        return new MissingModelException(model + ": expected " + Gallery.FILE + " beside it, found none; "
                + "'gramian train' writes it unless --no-gallery is given; train again, or resume an interrupted run with: "
                + CommandHint.of("train", "--resume", "RUN"));
    }

    /** Output formats of {@code gramian nearest}. */
    private sealed interface NearestLines {
        /** Names of the formats. */
        enum Format {
            TABLE,
            JSONL,
            CSV;

            NearestLines of(PrintWriter out) {
                return switch (this) {
                    case TABLE -> new Table(out);
                    case JSONL -> new Json(out);
                    case CSV ->
                        new Csv(CsvWriter.builder()
                                .lineDelimiter(LineDelimiter.LF)
                                .bufferSize(0)
                                .build(out));
                };
            }
        }

        /** Writes the header. */
        void begin();

        /** Writes the matches of an image, the nearest first. */
        void found(String image, List<Match> nearest);

        void failed(String image, String reason);

        /** Text: the image, and below it a line for each match. */
        record Table(PrintWriter out) implements NearestLines {
            @Override
            public void begin() {}

            @Override
            public void found(String image, List<Match> nearest) {
                out.println(QuotedText.visible(image));
                int width = nearest.stream()
                        .mapToInt(one -> QuotedText.visible(one.className()).length())
                        .max()
                        .orElse(0);
                for (Match one : nearest) {
                    String label = QuotedText.visible(one.className());
                    out.printf(
                            Locale.ROOT,
                            "  %.3f  %s%s  %s%n",
                            one.distance(),
                            label,
                            " ".repeat(width - label.length()),
                            QuotedText.visible(one.name()));
                }
            }

            @Override
            public void failed(String image, String reason) {
                out.println(QuotedText.visible(image));
                out.println("  ERROR: " + QuotedText.visible(reason));
            }
        }

        /** JSON Lines: one object per image. */
        record Json(PrintWriter out) implements NearestLines {
            @Override
            public void begin() {}

            @Override
            public void found(String image, List<Match> nearest) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("image", image);
                line.put("nearest", nearest.stream().map(Json::object).toList());
                out.println(JsonText.of(line));
            }

            private static Map<String, Object> object(Match one) {
                Map<String, Object> object = new LinkedHashMap<>();
                object.put("name", one.name());
                object.put("class", one.className());
                object.put("distance", one.distance());
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

        /** CSV: {@code image,rank,name,class,distance,error}, a line for each match. */
        record Csv(CsvWriter csv) implements NearestLines {
            @Override
            public void begin() {
                csv.writeRecord("image", "rank", "name", "class", "distance", "error");
            }

            @Override
            public void found(String image, List<Match> nearest) {
                for (int i = 0; i < nearest.size(); i++) {
                    Match one = nearest.get(i);
                    csv.writeRecord(CsvText.safe(List.of(
                            image,
                            Integer.toString(i + 1),
                            one.name(),
                            one.className(),
                            Double.toString(one.distance()),
                            "")));
                }
            }

            @Override
            public void failed(String image, String reason) {
                csv.writeRecord(CsvText.safe(List.of(image, "", "", "", "", reason)));
            }
        }
    }
}
