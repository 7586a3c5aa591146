package org.gramian.cli.command;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.Protobuf;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.ImageInputs;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.export.EngineDifference;
import org.gramian.export.ExportedFile;
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
@Command(name = "export", mixinStandardHelpOptions = true, header = "Export a model to ONNX.", description = """
                Writes backbone, pooling and classifier with standard ONNX operators. Input 'images' [n, 3, s, s]; outputs
                'scores' [n, k], 'probabilities' [n, k] and 'descriptors' [n, d]. The preprocessing is in the file's metadata.
                Then runs the file in ONNX Runtime and compares it with the model; if they differ by more than 0.001, no file
                is written and the exit code is 1. 'gramian predict', 'evaluate', 'embed' and 'serve' take the file as MODEL.""")
public final class ExportCommand implements Callable<Integer> {
    private static final int SYNTHETIC_IMAGES = 4;

    @Mixin
    private final Console console = new Console();

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

    @Parameters(index = "1", paramLabel = "OUT", description = "a .onnx file")
    private Path out;

    private static final class DisagreementException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private EngineDifference difference = EngineDifference.none();
    private int compared;

    @Override
    public Integer call() throws IOException {
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
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            Protobuf.Writer content = ExportedFile.content(stored.model(), stored.card(), opset);
            try {
                ExportedFile.write(out, content, partial -> {
                    if (!unchecked) {
                        check(stored, partial, files);
                    }
                });
            } catch (DisagreementException _) {
                console.say("the exported file and the model differ: " + difference.text() + ", on " + comparison()
                        + "; " + out + " was not written. Please report it with the pooling '"
                        + stored.model().head().pooling() + "'");
                return ExitCode.FAILED;
            }
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
        console.out()
                .printf(
                        "difference to the model in ONNX Runtime %s, on %s: %s%n",
                        OnnxEngine.version(), comparison(), difference.text());
        return files.isEmpty() || compared == files.size() ? ExitCode.DONE : ExitCode.DATA;
    }

    private String comparison() {
        return compared + (images == null ? " synthetic images, " : " images, ") + difference.crops() + " crops";
    }

    /** Compares an exported file in ONNX Runtime with its model in libtorch, on crops of the same images. */
    private void check(ModelFile.Stored stored, Path file, List<Path> files) throws IOException {
        int count = files.isEmpty() ? SYNTHETIC_IMAGES : files.size();
        try (OnnxEngine engine = OnnxEngine.open(file, torch.threads());
                Progress progress = console.progress("checking", count)) {
            // Not closed: the model stays open.
            Classifier classifier = Classifier.of(Engine.of(stored.model()), stored.card());
            int size = classifier.card().crops().size();
            Shape shape = Shape.of(classifier.crops(), 3, size, size);
            for (int i = 0; i < count; i++) {
                Optional<Image> image =
                        files.isEmpty() ? Optional.of(synthetic(i + 1)) : read(classifier, files.get(i));
                if (image.isPresent()) {
                    difference = difference.and(
                            EngineDifference.of(engine, classifier.engine(), classifier.render(image.get()), shape));
                    compared++;
                }
                progress.accept(i + 1);
            }
        }
        if (compared > 0 && !difference.holds()) {
            throw new DisagreementException();
        }
    }

    private Optional<Image> read(Classifier classifier, Path file) {
        return switch (classifier.read(ImageSource.of(file))) {
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
