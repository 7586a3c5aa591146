package org.gramian.backbone.weights.format;

import io.jhdf.HdfFile;
import io.jhdf.api.Dataset;
import io.jhdf.api.Group;
import io.jhdf.api.Node;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.object.datatype.FloatingPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reader of the weights of a Keras model in HDF5: a group for each layer, at the root or below {@code model_weights},
 * and in it, perhaps below further groups, one dataset for each weight.
 *
 * <pre>
 * block1_conv1/block1_conv1_W_1:0            block1_conv1/kernel
 * block1_conv1/block1_conv1/kernel:0         block1_conv1/kernel      kernels [height, width, in, out], dense [in, out]
 * block1_conv1/block1_conv1/bias:0           block1_conv1/bias
 * layers/block1_conv1/vars/0                 block1_conv1/kernel      Keras 3, where it names layers
 * </pre>
 *
 * Names become those on the right; the layout stays Keras'. Links are refused: one could lead into another file.
 */
final class Keras {
    private static final String MODEL = "model_weights";
    /** Group of all layers in Keras 3. */
    private static final String LAYERS = "layers";

    private static final String VARIABLES = "vars";
    /** Automatic name of a layer, numbered from the second of its kind on. */
    private static final Pattern NUMBERED = Pattern.compile("((depthwise_)?conv2d|dense|batch_normalization)(_\\d+)?");

    private static final List<String> NUMBERED_WEIGHTS = List.of("kernel", "bias");
    private static final int MAX_DEPTH = 8;
    private static final Pattern KERNEL = Pattern.compile("(kernel|.*_W)(_\\d+)?(:\\d+)?");
    private static final Pattern BIAS = Pattern.compile("(bias|.*_b)(_\\d+)?(:\\d+)?");

    private final Path path;
    private final Arena arena;
    private final FileLimits allowance;
    private final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
    private final List<String> remarks = new ArrayList<>();

    private Keras(Path path, Arena arena) {
        this.path = path;
        this.arena = arena;
        this.allowance = new FileLimits(path, path.toFile().length());
    }

    static WeightFile read(Path path, Arena arena) throws TensorFileException {
        InputFile.open(path).close(); // fails with a better message than the library
        try (HdfFile file = new HdfFile(path)) {
            Keras keras = new Keras(path, arena);
            keras.root(file);
            TensorFile content = new TensorFile(path, keras.tensors, new LinkedHashMap<>());
            return new WeightFile(content, Format.KERAS, keras.remarks);
        } catch (RuntimeException | StackOverflowError e) {
            // the library does not validate files, so a damaged one ends in any of these
            throw new TensorFileException(
                    path, "expected a Keras model in HDF5, found a file that is damaged or of another kind: " + e, e);
        }
    }

    private void root(HdfFile file) throws TensorFileException {
        Group layers = file;
        for (String place : List.of(LAYERS, MODEL)) {
            if (file.getChildren().get(place) instanceof Group model) {
                layers = model;
                if (file.getChildren().size() > 1) {
                    remarks.add("only the group '" + place + "' of the file was read");
                }
            }
        }
        for (Node layer : sorted(layers)) {
            List<Weight> found = new ArrayList<>();
            collect(layer, List.of(), found);
            keep(found);
        }
        if (tensors.isEmpty()) {
            throw new TensorFileException(
                    path, "expected a group with weights for each layer of a Keras model, found no weights at all");
        }
    }

    /** Dataset with the names of its enclosing groups. */
    record Weight(List<String> groups, Dataset data) {
        String leaf() {
            return data.getName();
        }

        String layer(boolean inModel) {
            return inModel ? groups.getLast() : groups.getFirst();
        }

        /** Returns whether it is a numbered variable of a layer, as in Keras 3. */
        boolean isNumbered() {
            return groups.size() > 1 && groups.getLast().equals(VARIABLES);
        }
    }

    private void collect(Node node, List<String> groups, List<Weight> found) throws TensorFileException {
        String place = String.join("/", groups) + "/" + node.getName();
        if (node.isLink()) {
            throw new TensorFileException(
                    path, "expected groups and data sets, found a link at " + QuotedText.text(place));
        }
        if (groups.size() > MAX_DEPTH || tensors.size() + found.size() > FileLimits.ENTRIES) {
            throw new TensorFileException(
                    path,
                    "expected at most %d groups inside each other and %d data sets, found more at %s"
                            .formatted(MAX_DEPTH, FileLimits.ENTRIES, QuotedText.text(place)));
        }
        if (node instanceof Dataset data) {
            found.add(new Weight(groups, data));
        } else if (node instanceof Group group) {
            List<String> inside = new ArrayList<>(groups);
            inside.add(group.getName());
            for (Node child : sorted(group)) {
                collect(child, inside, found);
            }
        }
    }

    /** Returns the children sorted by name. */
    private static Iterable<Node> sorted(Group group) {
        return new TreeMap<>(group.getChildren()).values();
    }

    /** Keeps the weights of a layer: the outermost group, unless that is a nested model. */
    private void keep(List<Weight> weights) throws TensorFileException {
        boolean model = weights.stream().map(Weight::groups).distinct().count() > 1;
        Map<String, Dataset> named = new LinkedHashMap<>();
        for (Weight weight : weights) {
            if (weight.groups.isEmpty()) {
                throw new TensorFileException(
                        path,
                        "expected a group for each layer, found the data set "
                                + QuotedText.text(weight.data.getName()));
            }
            String name = weight.isNumbered() ? numbered(weight) : weight.layer(model) + "/" + kind(weight.leaf());
            if (tensors.containsKey(name) || named.put(name, weight.data) != null) {
                throw new TensorFileException(
                        path, "expected every weight once, found " + QuotedText.text(name) + " twice");
            }
        }
        for (Map.Entry<String, Dataset> entry : named.entrySet()) {
            tensors.put(
                    entry.getKey(), new StoredWeight(path, entry.getKey(), entry.getValue()).read(arena, allowance));
        }
    }

    private String numbered(Weight weight) throws TensorFileException {
        String layer = weight.groups.get(weight.groups.size() - 2);
        if (NUMBERED.matcher(layer).matches()) {
            throw new TensorFileException(
                    path,
                    "expected layers by their names, found a Keras 3 .weights.h5 file, which counts them, e.g. "
                            + QuotedText.text(layer) + "; save the model with model.save('NAME.h5') instead");
        }
        for (int i = 0; i < NUMBERED_WEIGHTS.size(); i++) {
            if (weight.leaf().equals(Integer.toString(i))) {
                return layer + "/" + NUMBERED_WEIGHTS.get(i);
            }
        }
        return layer + "/" + weight.leaf();
    }

    private static String kind(String leaf) {
        if (KERNEL.matcher(leaf).matches()) {
            return "kernel";
        }
        return BIAS.matcher(leaf).matches() ? "bias" : leaf;
    }

    /**
     * One dataset of an HDF5 file as a tensor: mapped where it lies in one piece, else copied, as chunks and
     * compression make necessary.
     *
     * @param path the file, for messages
     * @param name of the weight, for messages
     * @param data the dataset
     */
    record StoredWeight(Path path, String name, Dataset data) {
        private static final ValueLayout.OfFloat FLOAT =
                ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfDouble DOUBLE =
                ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        StoredTensor read(Arena arena, FileLimits allowance) throws TensorFileException {
            if (!(data.getDataType() instanceof FloatingPoint real) || data.isVariableLength() || data.isCompound()) {
                throw fault("expected floating-point numbers, found HDF5 class "
                        + data.getDataType().getDataClass());
            }
            Shape shape = Shape.of(data.isScalar() ? new long[0] : data.getDimensionsAsLong());
            long size = Math.multiplyExact(shape.elements(), real.getSize());
            long file = path.toFile().length();
            boolean whole = data instanceof ContiguousDataset && real.getByteOrder() == ByteOrder.LITTLE_ENDIAN;
            if (size > (whole ? file : FileLimits.unpacked(file))) {
                throw fault("expected at most as much as the file of %d bytes can hold, found a shape of %s"
                        .formatted(file, shape));
            }
            allowance.allocate(name, size);
            DType type = switch (real.getSize()) {
                case 2 -> DType.F16;
                case 4 -> DType.F32;
                case 8 -> DType.F64;
                default -> throw fault("expected numbers of 2, 4 or 8 bytes, found " + real.getSize());
            };
            if (whole && size > 0) {
                ByteBuffer mapped = ((ContiguousDataset) data).getBuffer();
                return new StoredTensor(
                        type,
                        shape,
                        MemorySegment.ofBuffer(mapped.slice(0, (int) size)).asReadOnly());
            }
            return copied(shape, arena);
        }

        private StoredTensor copied(Shape shape, Arena arena) throws TensorFileException {
            Object flat = shape.elements() == 0 ? new float[0] : data.getDataFlat();
            return switch (flat) {
                case float[] singles -> {
                    MemorySegment copy =
                            arena.allocate(Math.multiplyExact((long) singles.length, Float.BYTES), Float.BYTES);
                    MemorySegment.copy(singles, 0, copy, FLOAT, 0, singles.length);
                    yield new StoredTensor(DType.F32, shape, copy.asReadOnly());
                }
                case double[] doubles -> {
                    MemorySegment copy =
                            arena.allocate(Math.multiplyExact((long) doubles.length, Double.BYTES), Double.BYTES);
                    MemorySegment.copy(doubles, 0, copy, DOUBLE, 0, doubles.length);
                    yield new StoredTensor(DType.F64, shape, copy.asReadOnly());
                }
                default ->
                    throw fault("expected numbers, found " + flat.getClass().getSimpleName());
            };
        }

        private TensorFileException fault(String problem) {
            return new TensorFileException(path, "weight " + QuotedText.text(name) + ": " + problem);
        }
    }
}
