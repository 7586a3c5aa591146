package org.gramian.cli.data;

import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.WeightsOptions;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.tensor.file.TensorFileException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian weights import}: installs weights from a file. */
@Command(
        name = "import",
        mixinStandardHelpOptions = true,
        header = "Install weights from a local file.",
        description = {
            "FILE is a safetensors file, a PyTorch state dictionary (.pth), a Keras model (.h5) or a Caffe network",
            "(.caffemodel), detected by content. No code in it is executed. The file itself is not changed.",
            "Without NAME, the names and shapes of the tensors select the backbone."
        })
final class WeightsImportCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Parameters(
            arity = "1..2",
            paramLabel = "[NAME] FILE",
            hideParamSyntax = true,
            description = "name of a backbone or variant, e.g. vgg16 or vgg16-keras, and the weights file")
    private List<String> arguments = List.of();

    @Override
    public Integer call() throws IOException {
        try {
            Path file = Path.of(arguments.getLast());
            WeightName name = arguments.size() > 1 ? WeightName.parse(arguments.getFirst()) : recognized(file);
            Path installed = weights.store().importFile(name, file, console::say);
            console.out().println(installed);
            return ExitCode.DONE;
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    private WeightName recognized(Path file) throws IOException {
        WeightName name = WeightStore.recognize(file);
        console.say("recognized " + name.architecture() + " by its tensors");
        if (weights.store().holds(name)) {
            throw new IllegalArgumentException("weights of " + name + " are already installed in "
                    + weights.store().folder() + "; replace them with: "
                    + CommandHint.of("weights", "import", name, file) + "; keep both with: "
                    + CommandHint.of("weights", "import", name + "-NAME", file));
        }
        return name;
    }
}
