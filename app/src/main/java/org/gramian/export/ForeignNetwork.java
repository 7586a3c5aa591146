package org.gramian.export;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
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

    /**
     * Opens a file.
     *
     * @throws TensorFileException if ONNX Runtime cannot use it
     */
    public static ForeignNetwork open(Path file) throws TensorFileException {
        try {
            return new ForeignNetwork(file, OnnxEngine.session(file));
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
            throw new IllegalStateException(
                    "the metadata of " + file + " cannot be read: " + wrong.getMessage(), wrong);
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
     * @param backbone cut at its last layer
     * @param parameters its weights
     * @param scores whether the backbone ends in scores and the file in their probabilities
     * @param images {@code [n, 3, side, side]} in row-major order
     */
    public double difference(Backbone backbone, ParameterSet parameters, boolean scores, float[] images, int side)
            throws TensorFileException {
        int batch = images.length / (COLOURS * side * side);
        Shape shape;
        float[] ours;
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var input = tape.constant(
                    Tensors.copyOf(MemorySegment.ofArray(images), DType.F32, Shape.of(batch, COLOURS, side, side)));
            Var output = backbone.apply(input, Bindings.of(parameters.variables(tape)));
            shape = output.shape();
            ours = scores
                    ? Tokens.softmax(output.reshape(batch, shape.at(1))).value().toFloats()
                    : output.value().toFloats();
        }
        boolean last = input().getShape()[1] != COLOURS && input().getShape()[3] == COLOURS;
        long[] sizes = last ? new long[] {batch, side, side, COLOURS} : new long[] {batch, COLOURS, side, side};
        float[] fed = last ? transposed(images, batch, COLOURS, side * side) : images;
        try (OnnxTensor input = OnnxTensor.createTensor(OnnxEngine.environment(), FloatBuffer.wrap(fed), sizes);
                OrtSession.Result result =
                        session.run(Map.of(session.getInputNames().iterator().next(), input))) {
            if (!(result.get(0) instanceof OnnxTensor output)) {
                throw new TensorFileException(file, "expected a tensor as first output, found " + result.get(0));
            }
            return difference(
                    maps(output.getFloatBuffer(), output.getInfo().getShape(), shape), ours, output.getInfo());
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
    private static float[] maps(FloatBuffer values, long[] sizes, Shape maps) {
        float[] all = new float[values.remaining()];
        values.get(all);
        long positions = maps.at(2) * maps.at(3);
        boolean tokens = sizes.length == 3 && sizes[2] == maps.at(1) && sizes[1] >= positions && positions > 1;
        if (!tokens) {
            return all;
        }
        int batch = Math.toIntExact(sizes[0]);
        int skipped = Math.toIntExact(sizes[1] - positions);
        int count = Math.toIntExact(positions);
        int depth = Math.toIntExact(sizes[2]);
        float[] moved = new float[batch * count * depth];
        for (int n = 0; n < batch; n++) {
            for (int p = 0; p < count; p++) {
                for (int d = 0; d < depth; d++) {
                    moved[(n * depth + d) * count + p] = all[(n * (count + skipped) + skipped + p) * depth + d];
                }
            }
        }
        return moved;
    }

    private static float[] transposed(float[] images, int batch, int rows, int columns) {
        float[] moved = new float[images.length];
        for (int n = 0; n < batch; n++) {
            for (int r = 0; r < rows; r++) {
                for (int c = 0; c < columns; c++) {
                    moved[(n * columns + c) * rows + r] = images[(n * rows + r) * columns + c];
                }
            }
        }
        return moved;
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
