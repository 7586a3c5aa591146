package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightName;
import org.gramian.tensor.file.TensorFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian weights import}: installs weights that somebody has in a file. */
@Command(
        name = "import",
        mixinStandardHelpOptions = true,
        header = "Install weights from a local file.",
        description = {
            "FILE is a safetensors file, a PyTorch state dictionary (.pth), a Keras model (.h5) or a Caffe network",
            "(.caffemodel), detected by content. No code in it is executed. The file itself is not changed."
        })
final class WeightsImportCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "a backbone, as vgg16, or a variant, as vgg16-keras")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Parameters(index = "1", paramLabel = "FILE", description = "the weights")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path file;

    @Override
    public Integer call() throws IOException {
        try {
            Path installed = weights.store().importFile(WeightName.parse(name), file, console::say);
            console.out().println(installed);
            return Main.DONE;
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }
}
