package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.anomaly.Detector;
import org.gramian.export.ExportedFile;
import org.gramian.export.OpenDetector;
import org.gramian.export.OpenModel;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Parameter and options of every command that runs a trained model: file, engine, device and threads. */
public final class EngineOptions {
    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "model file or run folder of 'gramian train', or a .onnx file of 'gramian export'")
    private Path typed;

    @Option(
            names = "--engine",
            paramLabel = "ENGINE",
            defaultValue = "auto",
            description = "libtorch, onnx for ONNX Runtime on the CPU, or auto: onnx for a .onnx file and on the CPU,"
                    + " else libtorch (default: ${DEFAULT-VALUE})")
    private OpenModel.EngineChoice runtime;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    public Path model() throws IOException {
        return TrainedModel.find(typed);
    }

    public OpenModel open(Path file) throws IOException {
        return OpenModel.open(file, request());
    }

    public Detector detector(Path file) throws IOException {
        // libtorch unless ONNX is chosen: the same scores as in training, to the last bit
        boolean onnx = runtime == OpenModel.EngineChoice.ONNX || ExportedFile.isNamed(file);
        return onnx ? OpenDetector.open(file, request()).detector() : Detector.load(file, torch.prepare());
    }

    public OpenModel.Request request() {
        // Rules of acceleration are libtorch's.
        boolean rules =
                runtime == OpenModel.EngineChoice.AUTO && torch.accelerate().isPresent();
        return new OpenModel.Request(
                rules ? OpenModel.EngineChoice.LIBTORCH : runtime,
                torch::device,
                torch::prepare,
                torch.threads(),
                0,
                false);
    }
}
