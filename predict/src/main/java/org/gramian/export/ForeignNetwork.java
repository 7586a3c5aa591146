package org.gramian.export;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Tokens;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.TensorFileException;

/** ONNX file of another program in ONNX Runtime, to compare an imported backbone with it. */
public final class ForeignNetwork implements AutoCloseable {
    /** Largest accepted difference, relative to the largest absolute value of an output. */
    public static final double MOST = 1e-3;

    private static final int COLOURS = 3;

    private final Path file;
    private final OrtSession session;

    private ForeignNetwork(Path file, OrtSession session) {
        this.file = file;
        this.session = session;
    }

    /** Opens a file. */
    public static ForeignNetwork open(Path file) throws TensorFileException {
        try {
            return new ForeignNetwork(file, OnnxEngine.session(file, 0));
        } catch (OrtException | ExecutionException wrong) {
            throw unusable(file, wrong);
        }
    }

    private static TensorFileException unusable(Path file, Exception wrong) {
        Throwable cause = wrong.getCause() == null ? wrong : wrong.getCause();
        return new TensorFileException(file, "ONNX Runtime cannot use it: " + cause.getMessage(), wrong);
    }

    /** Returns the texts that the exporter stored in the file, by key. */
    public Map<String, String> metadata() {
        try {
            return session.getMetadata().getCustomMetadata();
        } catch (OrtException wrong) {
            throw new UncheckedIOException(
                    new IOException("the metadata of " + file + " cannot be read: " + wrong.getMessage(), wrong));
        }
    }

    /** Returns the height and width of images that the file allows: fixed ones, else the given one. */
    public int side(int otherwise) throws TensorFileException {
        long height = input().getShape()[2];
        return height > 0 ? Math.toIntExact(height) : otherwise;
    }

    /** Returns the batch size that the file allows: a fixed one, else 2. */
    public int batch() throws TensorFileException {
        long first = input().getShape()[0];
        return first > 0 ? Math.toIntExact(first) : 2;
    }

    private TensorInfo input() throws TensorFileException {
        try {
            NodeInfo first = session.getInputInfo().values().iterator().next();
            if (first.getInfo() instanceof TensorInfo info && info.getShape().length == 4) {
                return info;
            }
            throw new TensorFileException(
                    file, "expected images [n, 3, height, width] as first input, found " + first.getInfo());
        } catch (OrtException wrong) {
            throw unusable(file, wrong);
        }
    }

    /**
     * Computes the largest difference between the first output of the file and the last layer of a backbone, relative
     * to the largest absolute value of the output.
     *
     * @param scores whether the backbone ends in scores and the file in their probabilities
     */
    public double difference(Backbone backbone, ParameterSet parameters, boolean scores, float[] images, int side)
            throws TensorFileException {
        int batch = images.length / (COLOURS * side * side);
        boolean last = input().getShape()[1] != COLOURS && input().getShape()[3] == COLOURS;
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor crops =
                    Tensors.copyOf(MemorySegment.ofArray(images), DType.F32, Shape.of(batch, COLOURS, side, side));
            Var output = backbone.apply(tape.constant(crops), Bindings.of(parameters.variables(tape)));
            Shape maps = output.shape();
            Var ours = scores ? Tokens.softmax(output.reshape(batch, maps.at(1))) : output;
            Tensor fed = last ? crops.permute(0, 2, 3, 1) : crops;
            try (OnnxTensor input = OnnxTensor.createTensor(
                            OnnxEngine.environment(),
                            FloatBuffer.wrap(fed.toFloats()),
                            fed.shape().sizes());
                    OrtSession.Result result = session.run(
                            Map.of(session.getInputNames().iterator().next(), input))) {
                if (!(result.get(0) instanceof OnnxTensor theirs)) {
                    throw new TensorFileException(file, "expected a tensor as first output, found " + result.get(0));
                }
                return difference(features(theirs, maps), ours.value().toFloats(), theirs.getInfo());
            }
        } catch (OrtException wrong) {
            throw unusable(file, wrong);
        }
    }

    private double difference(float[] theirs, float[] ours, TensorInfo output) throws TensorFileException {
        if (theirs.length != ours.length) {
            throw new TensorFileException(file, "expected an output of " + ours.length + " values, found " + output);
        }
        double largest = 0;
        double difference = 0;
        for (int i = 0; i < theirs.length; i++) {
            largest = Math.max(largest, Math.abs(theirs[i]));
            double own = Math.abs((double) theirs[i] - ours[i]);
            difference = own <= difference ? difference : own; // keeps NaN
        }
        return difference == 0 ? 0 : difference / largest;
    }

    /** Returns the output in the order of the backbone's maps {@code [n, d, h, w]}: tokens {@code [n, t, d]} are moved. */
    private static float[] features(OnnxTensor output, Shape maps) {
        long[] sizes = output.getInfo().getShape();
        FloatBuffer buffer = output.getFloatBuffer();
        float[] values = new float[buffer.remaining()];
        buffer.get(values);
        long positions = maps.at(2) * maps.at(3);
        boolean tokens = sizes.length == 3 && sizes[2] == maps.at(1) && sizes[1] >= positions && positions > 1;
        return tokens
                ? Tensors.copyOf(MemorySegment.ofArray(values), DType.F32, Shape.of(sizes))
                        .slice(1, sizes[1] - positions, sizes[1])
                        .transpose(1, 2)
                        .toFloats()
                : values;
    }

    @Override
    public void close() throws TensorFileException {
        try {
            session.close();
        } catch (OrtException wrong) {
            throw unusable(file, wrong);
        }
    }
}
