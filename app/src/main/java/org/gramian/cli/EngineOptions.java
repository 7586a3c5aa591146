package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.export.OpenModel;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that runs a trained model: what computes, and how. */
final class EngineOptions {
    @Option(
            names = "--engine",
            paramLabel = "ENGINE",
            defaultValue = "auto",
            description = "libtorch, onnx for ONNX Runtime on the processor, or auto: onnx for a .onnx file of"
                    + " 'gramian export', else libtorch (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private OpenModel.EngineChoice runtime;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    /** Opens a model of either kind of file. */
    OpenModel open(Path file) throws IOException {
        return OpenModel.open(file, runtime, torch::prepare, torch.threads());
    }
}
