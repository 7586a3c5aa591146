package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.export.OnnxEngine;
import org.gramian.export.OnnxFile;
import org.gramian.export.proto.OnnxProto;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian export}: a trained model as an ONNX file, checked by running it. */
@Command(
        name = "export",
        mixinStandardHelpOptions = true,
        header = "Export a model to ONNX.",
        description = {
            "Writes backbone, pooling and classifier with standard ONNX operators. Input 'pictures' [n, 3, s, s]; outputs",
            "'scores' [n, k], 'probabilities' [n, k] and 'descriptors' [n, d]. The preprocessing is in the file's metadata.",
            "Then runs the file in ONNX Runtime and compares it with the model; if they differ by more than 0.001, no file",
            "is written and the exit code is 1. 'gramian predict', 'evaluate', 'embed' and 'serve' take the file as MODEL."
        })
final class ExportCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--opset",
            paramLabel = "N",
            defaultValue = "" + OnnxFile.DEFAULT_OPSET,
            description = "ONNX operator set, " + OnnxProto.Model.OLDEST_OPSET + " to " + OnnxProto.Model.NEWEST_OPSET
                    + " (default: ${DEFAULT-VALUE})")
    private int opset;

    @Option(
            names = {"--images", "--pictures"},
            paramLabel = "DIR|FILE",
            arity = "1..*",
            description = "images for the comparison, e.g. photos or a.jpg b.jpg (default: " + SyntheticImages.COUNT
                    + " synthetic ones)")
    private @Nullable List<String> images;

    @Option(names = "--no-check", negatable = false, description = "do not run and compare the file")
    private boolean unchecked;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Parameters(index = "1", paramLabel = "OUT", description = "a .onnx file")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path out;

    /** The file was not kept. */
    private static final class DisagreementException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public Integer call() throws IOException {
        Path file = model.file();
        requireUse(file);
        List<Path> files = images == null ? List.of() : new ImageInputs(images).named(console::say);
        torch.prepare();
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            OnnxProto.Model content = OnnxFile.proto(stored.model(), stored.card(), opset);
            ExportCheck check = new ExportCheck(stored, files, console);
            try {
                OnnxFile.write(out, content, partial -> inspect(check, partial));
            } catch (DisagreementException _) {
                console.say("the exported file and the model differ: "
                        + check.found().text() + ", on "
                        + check.text() + "; " + out + " was not written. Please report it with the pooling '"
                        + stored.model().head().pooling() + "'");
                return Main.FAILED;
            }
            return finish(check);
        }
    }

    private void requireUse(Path file) throws IOException {
        if (!OnnxFile.isNamed(out)) {
            throw new IllegalArgumentException(
                    "OUT: expected a file name that ends with " + OnnxFile.SUFFIX + ", found " + out);
        }
        if (OnnxFile.isNamed(file)) {
            throw new IllegalArgumentException(file + ": expected a model of 'gramian train', found an ONNX file");
        }
        if (unchecked && images != null) {
            throw new IllegalArgumentException("expected --images or --no-check, found both");
        }
        AtomicFile.require(out);
    }

    private void inspect(ExportCheck check, Path partial) throws IOException {
        if (!unchecked) {
            check.run(partial, torch.threads());
            if (check.found().crops() > 0 && !check.found().holds()) {
                throw new DisagreementException();
            }
        }
    }

    private int finish(ExportCheck check) throws IOException {
        console.out().printf("%s: %s, operator set %d%n", out, ByteSize.text(Files.size(out)), opset);
        if (unchecked) {
            console.out().println("not compared with the model (--no-check)");
            return Main.DONE;
        }
        if (check.found().crops() == 0) {
            console.say("no image could be read: " + out + " was not checked");
            return Main.DATA;
        }
        console.out()
                .printf(
                        "difference to the model in ONNX Runtime %s, on %s: %s%n",
                        OnnxEngine.version(), check.text(), check.found().text());
        return check.complete() ? Main.DONE : Main.DATA;
    }
}
