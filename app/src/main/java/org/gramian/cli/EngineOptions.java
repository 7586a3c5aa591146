package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.export.OpenModel;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that runs a trained model: what computes, and how. */
final class EngineOptions {
    @Option(
            names = "--engine",
            paramLabel = "ENGINE",
            description = "libtorch, or onnx for ONNX Runtime on the processor"
                    + " (default: onnx for a .onnx file of 'gramian export', else libtorch)")
    private OpenModel.@Nullable EngineChoice runtime;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    /** Opens a model of either kind of file. */
    OpenModel open(Path file) throws IOException {
        return OpenModel.open(
                file, runtime == null ? OpenModel.EngineChoice.AUTO : runtime, torch::prepare, torch.threads());
    }
}
