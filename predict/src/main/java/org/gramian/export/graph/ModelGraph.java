package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.backbone.onnx.OnnxWriter.ValueInfo;
import org.gramian.basis.CountSketch;
import org.gramian.basis.Protobuf;
import org.gramian.model.Head;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import org.gramian.model.OpenSet;
import org.gramian.model.OpenSet.KnownClasses;

/**
 * Graph of a classifier: {@code images [n, 3, s, s]} to {@code scores [n, k]}, {@code probabilities [n, k]} and {@code
 * descriptors [n, d]}.
 *
 * <p>Images are crops of the card's size, preprocessed as the card says; n is open. Scores and descriptors are those of
 * {@link org.gramian.model.Engine}. Probabilities are {@code softmax(scores / T)} with the card's temperature T, of each crop by
 * itself.
 */
public final class ModelGraph {
    public static final String IMAGES = "images";

    /** Scores before the softmax. */
    public static final String SCORES = "scores";

    /** Probabilities of each crop. */
    public static final String PROBABILITIES = "probabilities";

    public static final String DESCRIPTORS = "descriptors";

    /** Distances from the classes, of a model that recognizes images of no class. */
    public static final String DISTANCES = "distances";

    /** p-values of each crop, of a model that recognizes images of no class. */
    public static final String P_VALUE = "p_value";

    /**
     * Operators that an exported file may have: matrix products, exponentials, element-wise operators, and moves. None loops,
     * branches or reads files. All are standard in the oldest supported operator set.
     */
    public static final Set<String> OPERATORS = Set.of("""
                    Abs Add ArgMax AveragePool BatchNormalization Clip Concat Conv Div Erf Exp Expand Gather Gemm
                    GlobalAveragePool GlobalMaxPool Greater HardSigmoid Identity LRN LeakyRelu Log MatMul Max MaxPool
                    Mul Neg Pad Pow Reciprocal ReduceSum Relu Reshape Resize Sigmoid Sign Slice Softmax Sqrt Sub Sum
                    Tanh TopK Transpose Where""".split("\\s+"));

    private ModelGraph() {}

    /** Builds the graph of a model, whose tensors must stay readable until it is written. */
    public static Protobuf.Writer of(ModelFile.Content model, long side) {
        Graph graph = new Graph();
        HostParameters parameters = new HostParameters(graph, model.tensors(), "");
        ModelHeader header = model.header();
        Value images = graph.input(IMAGES, List.of(Value.BATCH, 3L, side, side));
        NetworkLowering network = new NetworkLowering(graph, parameters.under("backbone"));
        Value features = graph.in("backbone", () -> network.features(header.backbone(), images));
        HostParameters head = parameters.under("head");
        PoolingLowering pooling = new PoolingLowering(graph);
        Value descriptors =
                graph.in("head/pooling", () -> pooling.lower(header.head().pooling(), head.under("pooling"), features));
        Value scores = graph.in("head/classifier", () -> classify(header.head(), head, descriptors));
        double temperature = header.card().temperature();
        Value probabilities =
                graph.in("head/classifier", () -> scores.scale(1 / temperature).softmax(1));
        List<ValueInfo> outputs = new ArrayList<>(List.of(
                graph.output(SCORES, scores, "scores before the softmax"),
                graph.output(PROBABILITIES, probabilities, "softmax(scores / temperature), temperature " + temperature),
                graph.output(DESCRIPTORS, descriptors, "output of the pooling")));
        header.card().openSet().ifPresent(openSet -> {
            Value distances = graph.in("known", () -> distances(parameters.under("known"), descriptors));
            Value pValue = graph.in("p_value", () -> pValue(openSet, distances, probabilities));
            outputs.add(graph.output(DISTANCES, distances, "distances from the classes"));
            outputs.add(graph.output(
                    P_VALUE,
                    pValue.reshape(),
                    "share of images of known classes that are at least as unlike them; an image of no class has at"
                            + " most "
                            + openSet.rate()));
        });
        return graph.message(
                new ValueInfo(
                        images.name(),
                        images.sizes(),
                        "crops of " + side + "x" + side + ", preprocessed: "
                                + header.card().preprocessing().text()),
                outputs.toArray(ValueInfo[]::new));
    }

    /** Computes the distances {@code [n, k]} from the classes, see {@link KnownClasses}. */
    private static Value distances(HostParameters parameters, Value descriptors) {
        Value z = shortened(descriptors.unit())
                .sub(parameters.value("centre"))
                .matmul(parameters.value("matrix").transpose());
        Value means = parameters.value("means");
        Value squares = z.square()
                .sum(1)
                .add(means.square().sum(1).transpose())
                .sub(z.matmul(means.transpose()).scale(2));
        return squares.relu().sqrt();
    }

    /** Computes the {@link CountSketch} of rows as a sum of signed elements. */
    private static Value shortened(Value rows) {
        CountSketch sketch = CountSketch.of(rows.at(1));
        int[][] summed = sketch.summed();
        if (summed.length == 0) {
            return rows;
        }
        int each = summed[0].length;
        int[] flat = Arrays.stream(summed).flatMapToInt(Arrays::stream).toArray();
        double[] signs =
                Arrays.stream(flat).mapToDouble(i -> i < 0 ? 0 : sketch.sign(i)).toArray();
        Value signed = rows.gather(
                        Arrays.stream(flat).mapToLong(i -> Math.max(0, i)).toArray(), 1)
                .mul(rows.graph().constant("signs", List.of(1L, (long) flat.length), signs));
        return signed.reshape(summed.length, each).sum(2).reshape(summed.length);
    }

    private static Value pValue(OpenSet openSet, Value distances, Value probabilities) {
        Value nearest = distances.scale(-1).largest(1).scale(-1);
        Value best = probabilities.largest(1);
        Value odds =
                best.scale(-1).shift(1).div(best).atLeast(OpenSet.LEAST_ODDS).log();
        Value score = standardized(openSet.distance(), nearest).add(standardized(openSet.logOdds(), odds));
        return score.graph().pValue(openSet.scores(), score);
    }

    private static Value standardized(OpenSet.Scale scale, Value value) {
        return value.shift(-scale.median()).scale(1 / scale.spread());
    }

    /** Adds the classifier; a batch norm of the scores is folded into its weights. */
    private static Value classify(Head head, HostParameters parameters, Value descriptors) {
        HostParameters own = parameters.under("classifier");
        List<Value> folded = head.normalized()
                ? NetworkLowering.normalized(
                        own, own.toDoubles("bias"), parameters.under("norm"), BatchNorm.STANDARD.epsilon())
                : List.of(own.value("weight"), own.value("bias"));
        return descriptors.linear(folded.get(0), folded.get(1));
    }
}
