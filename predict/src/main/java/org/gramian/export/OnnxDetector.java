package org.gramian.export;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.gramian.anomaly.Detector.DetectorEngine;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.export.graph.DetectorGraph;
import org.gramian.export.graph.ModelGraph;
import org.gramian.image.Image;
import org.gramian.image.resize.Resize;
import org.gramian.model.ModelFileException;

/** Runs a detector in ONNX Runtime on the CPU: the same score and map as libtorch, up to rounding. Not thread-safe. */
public final class OnnxDetector implements DetectorEngine {
    private final OrtSession session;
    private final DetectorCard card;
    private final int rows;
    private final int columns;

    private OnnxDetector(OrtSession session, DetectorCard card, int rows, int columns) {
        this.session = session;
        this.card = card;
        this.rows = rows;
        this.columns = columns;
    }

    /** Runs a detector of 'gramian train', whose tensors are not used any more afterwards. */
    static OnnxDetector of(DetectorNetwork network, int threads) {
        OrtSession session = OnnxEngine.session(ExportedFile.content(network, ExportedFile.DEFAULT_OPSET), threads);
        return new OnnxDetector(session, network.card(), network.rows(), network.columns());
    }

    /** Opens a file of 'gramian export'; 0 threads are all cores. */
    public static OnnxDetector open(Path file, int threads) throws ModelFileException {
        DetectorCard card = card(file);
        return OnnxEngine.open(file, threads, session -> {
            OnnxEngine.require(file, session.getInputInfo(), ModelGraph.IMAGES, -1, 3, card.height(), card.width());
            OnnxEngine.require(file, session.getOutputInfo(), DetectorGraph.SCORE, -1);
            NodeInfo info = session.getOutputInfo().get(DetectorGraph.MAP);
            long[] sizes =
                    info != null && info.getInfo() instanceof TensorInfo tensor ? tensor.getShape() : new long[0];
            if (sizes.length == 3 && isUpTo(sizes[1], card.height()) && isUpTo(sizes[2], card.width())) {
                return new OnnxDetector(session, card, (int) sizes[1], (int) sizes[2]);
            }
            throw new ModelFileException(
                    file,
                    "expected a map of shape [n, rows, columns], found "
                            + (info == null ? "no tensor of that name" : info.getInfo())
                            + "; the file does not fit its metadata: export the detector again");
        });
    }

    private static DetectorCard card(Path file) throws ModelFileException {
        Map<String, String> metadata = ExportedFile.metadata(file);
        try {
            if (!DetectorNetwork.isDetector(metadata)) {
                throw new IllegalArgumentException("expected a detector, found a classifier");
            }
            return DetectorNetwork.card(metadata);
        } catch (IllegalArgumentException wrong) {
            throw new ModelFileException(file, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    private static boolean isUpTo(long size, long most) {
        return size > 0 && size <= most;
    }

    DetectorCard card() {
        return card;
    }

    @Override
    public Output compute(Image image) {
        FloatBuffer pixels =
                FloatBuffer.wrap(card.preprocessing().apply(Resize.to(image, card.width(), card.height())));
        long[] sizes = {1, 3, card.height(), card.width()};
        try (OnnxTensor input = OnnxTensor.createTensor(OnnxEngine.environment(), pixels, sizes);
                OrtSession.Result result =
                        session.run(Map.of(ModelGraph.IMAGES, input), Set.of(DetectorGraph.SCORE, DetectorGraph.MAP))) {
            float[] map = new float[rows * columns];
            floats(result, DetectorGraph.MAP).get(map);
            return new Output(floats(result, DetectorGraph.SCORE).get(0), rows, columns, map);
        } catch (OrtException failed) {
            throw new UncheckedIOException(new IOException(
                    "ONNX Runtime could not compute an image of " + card.width() + "x" + card.height() + ": "
                            + failed.getMessage(),
                    failed));
        }
    }

    private static FloatBuffer floats(OrtSession.Result result, String name) {
        return ((OnnxTensor) result.get(name).orElseThrow()).getFloatBuffer();
    }

    @Override
    public void close() {
        OnnxEngine.close(session);
    }
}
