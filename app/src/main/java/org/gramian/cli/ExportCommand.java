package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.basis.WholeFile;
import org.gramian.export.OnnxEngine;
import org.gramian.export.OnnxFile;
import org.gramian.export.proto.ModelProto;
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
            "Writes the whole classifier, pooling included, by ONNX's standard operators. Input 'pictures' [n, 3, s, s], any",
            "n: crops as the model's card says, which stands in the file's metadata. Outputs 'scores' [n, k],",
            "'probabilities' [n, k] and 'descriptors' [n, d].",
            "Then the file is run in ONNX Runtime and compared with the model; if they differ by more than 0.001, there is",
            "no file and the exit code is 1. 'gramian predict', 'evaluate', 'embed' and 'serve' take the file like a model."
        })
final class ExportCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--opset",
            paramLabel = "N",
            defaultValue = "" + OnnxFile.DEFAULT_OPSET,
            description = "version of ONNX's operators, " + ModelProto.OLDEST_OPSET + " to " + ModelProto.NEWEST_OPSET
                    + " (default: ${DEFAULT-VALUE})")
    private int opset;

    @Option(
            names = "--pictures",
            paramLabel = "DIR|FILE",
            arity = "1..*",
            description = "images to compare on, as photos or a.jpg b.jpg (default: " + MadeUpPictures.COUNT
                    + " made-up ones)")
    private @Nullable List<String> pictures;

    @Option(names = "--no-check", negatable = false, description = "write the file without running it")
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
        List<Path> files = pictures == null ? List.of() : new PictureInputs(pictures).named(console::say);
        torch.prepare();
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            ModelProto content = OnnxFile.proto(stored.model(), stored.card(), opset);
            ExportCheck check = new ExportCheck(stored, files, console);
            try {
                OnnxFile.write(out, content, partial -> inspect(check, partial));
            } catch (DisagreementException _) {
                console.say("the exported file and the model differ too much: "
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
                    "OUT is a file whose name ends with " + OnnxFile.SUFFIX + ", found " + out);
        }
        if (OnnxFile.isNamed(file)) {
            throw new IllegalArgumentException(
                    file + " is an ONNX file already; give the model that 'gramian train' wrote");
        }
        if (unchecked && pictures != null) {
            throw new IllegalArgumentException(
                    "--images are for the check, which --no-check leaves out; give one of them");
        }
        WholeFile.require(out);
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
        console.out().printf("%s: %s, operator set %d%n", out, Sizes.text(Files.size(out)), opset);
        if (unchecked) {
            console.out().println("not checked; leave out --no-check to have it run and compared");
            return Main.DONE;
        }
        if (check.found().crops() == 0) {
            console.say("no image could be read: " + out + " was not checked");
            return Main.DATA;
        }
        console.out()
                .printf(
                        "in ONNX Runtime %s it differs from the model, on %s: %s%n",
                        OnnxEngine.version(), check.text(), check.found().text());
        return check.complete() ? Main.DONE : Main.DATA;
    }
}
