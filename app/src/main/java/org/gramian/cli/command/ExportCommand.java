package org.gramian.cli.command;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Detector.DetectorEngine;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.Protobuf;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.export.EngineDifference;
import org.gramian.export.ExportedFile;
import org.gramian.export.OnnxDetector;
import org.gramian.export.OnnxEngine;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian export}: a trained model as an ONNX file, checked by running it. */
@Command(name = "export", header = "Export a model to ONNX.", description = """
                Writes backbone, pooling and classifier with standard ONNX operators. Input 'images' [n, 3, s, s]; outputs
                'scores' [n, k], 'probabilities' [n, k] and 'descriptors' [n, d]; of a detector input [n, 3, height, width],
                outputs 'score' [n], 'map' [n, rows, columns], 'p_value' [n] and 'threshold'. The preprocessing is in the
                file's metadata. Then runs the file in ONNX Runtime and compares it with the model; if they differ by more
                than 0.001 (a detector: 0.0001, relative), no file is written and the exit code is 1. 'gramian predict',
                'evaluate', 'embed' and 'serve' take the file as MODEL.""")
public final class ExportCommand extends ConsoleCommand {
    private static final int SYNTHETIC_IMAGES = 4;

    /** Largest difference of scores and maps of a detector. */
    private static final double DETECTOR_TOLERANCE = 1e-4;

    @Option(
            names = "--opset",
            paramLabel = "N",
            defaultValue = "" + ExportedFile.DEFAULT_OPSET,
            description = "ONNX operator set, " + ExportedFile.OLDEST_OPSET + " to " + ExportedFile.NEWEST_OPSET
                    + " (default: ${DEFAULT-VALUE})")
    private int opset;

    @Option(
            names = "--images",
            paramLabel = "DIR|FILE",
            arity = "1..*",
            description = "images for the comparison, e.g. photos or a.jpg b.jpg (default: " + SYNTHETIC_IMAGES
                    + " synthetic ones)")
    private @Nullable List<String> images;

    @Option(names = "--no-check", negatable = false, description = "do not run and compare the file")
    private boolean unchecked;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(index = "1", arity = "0..1", paramLabel = "OUT", description = "a .onnx file")
    private @Nullable Path positional;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FILE",
            description = "the same as OUT")
    private @Nullable Path option;

    private Path out = Path.of("");

    private static final class DisagreementException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        DisagreementException(String model) {
            super(model);
        }
    }

    private int compared;
    private String difference = "";

    @Override
    public Integer call() throws IOException {
        out = target();
        Path file = model.file();
        if (!ExportedFile.isNamed(out)) {
            throw new IllegalArgumentException(
                    "OUT: expected a file name that ends with " + ExportedFile.SUFFIX + ", found " + out);
        }
        if (ExportedFile.isNamed(file)) {
            throw new IllegalArgumentException(file + ": expected a model of 'gramian train', found an ONNX file");
        }
        if (unchecked && images != null) {
            throw new IllegalArgumentException("expected --images or --no-check, found both");
        }
        AtomicFile.require("OUT", out, List.of());
        List<Path> files = images == null ? List.of() : new ImageInputs(images).named(console::say);
        torch.prepare();
        try {
            if (Detector.isDetector(file)) {
                exportDetector(file, files);
            } else {
                exportClassifier(file, files);
            }
        } catch (DisagreementException disagreement) {
            console.say("the exported file and the model differ: " + difference + "; " + out
                    + " was not written. Please report it with " + disagreement.getMessage());
            return ExitCode.FAILED;
        }
        console.out().printf("%s: %s, operator set %d%n", out, ByteSize.text(Files.size(out)), opset);
        if (unchecked) {
            console.out().println("not compared with the model (--no-check)");
            return ExitCode.DONE;
        }
        if (compared == 0) {
            console.say("no image could be read: " + out + " was not checked");
            return ExitCode.DATA;
        }
        console.out().printf("difference to the model in ONNX Runtime %s, %s%n", OnnxEngine.version(), difference);
        return files.isEmpty() || compared == files.size() ? ExitCode.DONE : ExitCode.DATA;
    }

    private Path target() {
        if (positional != null && option != null) {
            throw new IllegalArgumentException("expected OUT or --out, found both: " + positional + " and " + option);
        }
        if (positional == null && option == null) {
            throw new IllegalArgumentException(
                    "expected the name of an " + ExportedFile.SUFFIX + " file as OUT, found none");
        }
        return positional != null ? positional : Objects.requireNonNull(option);
    }

    private void exportClassifier(Path file, List<Path> files) throws IOException {
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            Protobuf.Writer content = ExportedFile.content(stored.model(), stored.card(), opset);
            ExportedFile.write(out, content, partial -> {
                if (!unchecked) {
                    check(stored, partial, files);
                }
            });
        }
    }

    private void exportDetector(Path file, List<Path> files) throws IOException {
        try (Arena arena = Arena.ofShared();
                Detector libtorch = Detector.load(file)) {
            DetectorNetwork network = DetectorNetwork.read(file, arena);
            ExportedFile.write(out, ExportedFile.content(network, opset), partial -> {
                if (!unchecked) {
                    check(libtorch, network.kind(), partial, files);
                }
            });
        }
    }

    /** Compares an exported file in ONNX Runtime with its model in libtorch, on crops of the same images. */
    private void check(ModelFile.Stored stored, Path file, List<Path> files) throws IOException {
        try (OnnxEngine engine = OnnxEngine.open(file, torch.threads());
                Progress progress = progress(files)) {
            // Not closed: the model stays open.
            Classifier classifier = Classifier.of(Engine.of(stored.model()), stored.card());
            int size = classifier.card().crops().size();
            Shape shape = Shape.of(classifier.crops(), 3, size, size);
            EngineDifference found = EngineDifference.none();
            for (Image image : images(files, classifier::read, progress)) {
                found = found.and(EngineDifference.of(engine, classifier.engine(), classifier.render(image), shape));
            }
            difference = "on " + comparison() + ", " + found.crops() + " crops: " + found.text();
            if (compared > 0 && !found.holds()) {
                throw new DisagreementException(
                        "the pooling '" + stored.model().head().pooling() + "'");
            }
        }
    }

    /** Compares an exported detector with the one in libtorch: the largest difference of scores and maps, relative to the largest. */
    private void check(Detector libtorch, String kind, Path file, List<Path> files) throws IOException {
        try (OnnxDetector onnx = OnnxDetector.open(file, torch.threads());
                Progress progress = progress(files)) {
            double score = 0;
            double map = 0;
            for (Image image : images(files, source -> source.reader().get(), progress)) {
                DetectorEngine.Output expected = libtorch.engine().compute(image);
                DetectorEngine.Output found = onnx.compute(image);
                score = Math.max(score, relative(found.score() - expected.score(), expected.score()));
                double largest = 0;
                for (float value : expected.map()) {
                    largest = Math.max(largest, value);
                }
                for (int i = 0; i < expected.map().length; i++) {
                    map = Math.max(map, relative(found.map()[i] - expected.map()[i], largest));
                }
            }
            difference = String.format(
                    Locale.ROOT, "on %s: score by at most %.1e, map %.1e, relative", comparison(), score, map);
            if (!(Math.max(score, map) <= DETECTOR_TOLERANCE)) {
                throw new DisagreementException("the detector " + kind);
            }
        }
    }

    private static double relative(double difference, double largest) {
        double relative = Math.abs(difference) / Math.max(1, largest);
        return Double.isFinite(relative) ? relative : Double.POSITIVE_INFINITY;
    }

    private String comparison() {
        return compared + (images == null ? " synthetic images" : " images");
    }

    private Progress progress(List<Path> files) {
        return console.progress("checking", files.isEmpty() ? SYNTHETIC_IMAGES : files.size());
    }

    /** Returns the readable images of the comparison, one after another. */
    private Iterable<Image> images(List<Path> files, Function<ImageSource, ReadResult> reader, Progress progress) {
        int count = files.isEmpty() ? SYNTHETIC_IMAGES : files.size();
        return () -> IntStream.range(0, count)
                .peek(progress::accept)
                .mapToObj(i -> files.isEmpty() ? Optional.of(synthetic(i + 1)) : read(reader, files.get(i)))
                .flatMap(Optional::stream)
                .peek(_ -> compared++)
                .iterator();
    }

    private Optional<Image> read(Function<ImageSource, ReadResult> reader, Path file) {
        return switch (reader.apply(ImageSource.of(file))) {
            case ReadResult.Unreadable problem -> {
                console.warn("skipping " + file + ": " + problem.reason());
                yield Optional.empty();
            }
            case ReadResult.Readable(Image image, var _) -> Optional.of(image);
        };
    }

    /** Returns an image that a seed alone decides: waves of colour with noise on them. */
    private static Image synthetic(int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] waves = random.doubles(6, -0.15, 0.15).toArray();
        BufferedImage image = new BufferedImage(320, 256, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int colour = 0;
                for (int c = 0; c < 3; c++) {
                    double wave = StrictMath.sin(waves[2 * c] * x + waves[2 * c + 1] * y + seed);
                    int value = (int) (127 + 100 * wave) + random.nextInt(-48, 48);
                    colour = colour << 8 | Math.clamp(value, 0, 255);
                }
                image.setRGB(x, y, colour);
            }
        }
        return Image.of(image);
    }
}
