package org.gramian.export;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Map;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.basis.FileLoader;
import org.gramian.export.OpenModel.EngineChoice;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.model.ModelFileException;

/**
 * A loaded detector of either kind of file: of 'gramian train' or of 'gramian export'. It runs in ONNX Runtime on a CPU, in libtorch on
 * a GPU, as {@link OpenModel}.
 *
 * <pre>{@code
 * try (OpenDetector opened = OpenDetector.open(Path.of("detector.onnx"), OpenModel.Request.of(OpenModel.EngineChoice.AUTO))) {
 *     Inspection inspection = opened.detector().inspect(Path.of("part.png"));
 * }
 * }</pre>
 *
 * <p>libtorch is not loaded for ONNX Runtime.
 *
 * @param backbone name of the backbone
 * @param kind GAUSSIAN, NEIGHBOURS or POSITIONS, see {@link DetectorNetwork}
 * @param engineName {@code libtorch} or {@code onnx}
 */
public record OpenDetector(Detector detector, String backbone, String kind, String engineName)
        implements AutoCloseable {
    /** Opens detectors for {@link Detector#load(Path)}. */
    public static final class Loader implements FileLoader<Detector> {
        @Override
        public Class<Detector> type() {
            return Detector.class;
        }

        @Override
        public Detector load(Path file) throws IOException {
            return open(file, OpenModel.Request.of(EngineChoice.AUTO)).detector();
        }
    }

    /** Returns whether a file of either kind holds a detector, by its header. */
    public static boolean isDetector(Path file) {
        try {
            return ExportedFile.isNamed(file)
                    ? DetectorNetwork.isDetector(ExportedFile.metadata(file))
                    : Detector.isDetector(file);
        } catch (ModelFileException _) {
            return false; // opening it says what is wrong
        }
    }

    /** Opens a detector file. */
    public static OpenDetector open(Path file, OpenModel.Request request) throws IOException {
        if (ExportedFile.isNamed(file)) {
            request.requireOnnx(file);
            return of(OnnxDetector.open(file, request.threads()), ExportedFile.metadata(file));
        }
        try (Arena arena = Arena.ofShared()) {
            DetectorNetwork network = DetectorNetwork.read(file, arena);
            if (request.prefersOnnx() && (request.engine() == EngineChoice.ONNX || OnnxEngine.isAvailable())) {
                try {
                    return of(OnnxDetector.of(network, request.threads()), network.metadata());
                } catch (NotExpressibleException wrong) {
                    if (request.engine() == EngineChoice.ONNX) {
                        throw wrong;
                    }
                }
            }
            Detector detector = Detector.load(file, request.libtorch().get());
            return new OpenDetector(detector, network.backbone().name(), network.kind(), "libtorch");
        }
    }

    private static OpenDetector of(OnnxDetector engine, Map<String, String> metadata) {
        return new OpenDetector(
                Detector.of(engine, engine.card()),
                metadata.getOrDefault("backbone", ""),
                metadata.getOrDefault("detector", ""),
                "onnx");
    }

    /** Returns this detector with another rate of false alarms; closing either closes both. */
    public OpenDetector withFalseAlarms(double rate) {
        return new OpenDetector(detector.withFalseAlarms(rate), backbone, kind, engineName);
    }

    public DetectorCard card() {
        return detector.card();
    }

    @Override
    public void close() {
        detector.close();
    }
}
