package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.export.proto.OnnxProto;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;

/**
 * Graph of a classifier: {@code images [n, 3, s, s]} to {@code scores [n, k]}, {@code probabilities [n, k]} and {@code
 * descriptors [n, d]}.
 *
 * <p>Images are crops of the card's size, preprocessed as the card says; n is open. Scores and descriptors are those of
 * {@link org.gramian.model.Engine}. Probabilities are {@code softmax(scores / T)} with the card's temperature T, of each crop by
 * itself.
 */
public final class ModelGraph {
    /** Name of the input. */
    public static final String IMAGES = "images";

    /** Scores before the softmax. */
    public static final String SCORES = "scores";

    /** Probabilities of each crop. */
    public static final String PROBABILITIES = "probabilities";

    /** Output of the pooling. */
    public static final String DESCRIPTORS = "descriptors";

    private ModelGraph() {}

    /**
     * Builds the graph of a model, which must stay open until it is written.
     *
     * @throws NotExpressibleException if the model has a part that ONNX does not express
     */
    public static OnnxProto.Graph of(Model model, ModelCard card) {
        Graph graph = Graph.empty();
        long side = card.crops().size();
        Value images = graph.input(IMAGES, List.of(Value.BATCH, 3L, side, side));
        Value features = new NetworkLowering(graph.at("backbone"), model.backboneParameters())
                .features(model.backbone(), images);
        Algebra pooling = new Algebra(graph.at("head").at("pooling"));
        Head head = model.head();
        Value descriptors = new PoolingLowering(pooling)
                .lower(head.pooling(), model.headParameters().under("pooling"), features);
        Algebra classifier = new Algebra(graph.at("head").at("classifier"));
        Value scores = classify(classifier, head, model.headParameters(), descriptors);
        Value probabilities = classifier.softmax(classifier.scale(scores, 1 / card.temperature()), 1);
        return new OnnxProto.Graph(
                "gramian",
                graph.nodes(),
                graph.constants(),
                List.of(info(
                        images,
                        "crops of " + side + "x" + side + ", preprocessed: "
                                + card.preprocessing().text())),
                List.of(
                        info(graph.output(SCORES, scores), "scores before the softmax"),
                        info(
                                graph.output(PROBABILITIES, probabilities),
                                "softmax(scores / temperature), temperature " + card.temperature()),
                        info(graph.output(DESCRIPTORS, descriptors), "output of the pooling")));
    }

    private static OnnxProto.ValueInfo info(Value value, String about) {
        return new OnnxProto.ValueInfo(value.name(), value.sizes(), about);
    }

    /** Adds the classifier; a batch norm of the scores is folded into its weights. */
    private static Value classify(Algebra algebra, Head head, ParameterSet parameters, Value descriptors) {
        if (!head.normalized()) {
            return algebra.linear(
                    descriptors,
                    algebra.graph().parameter(parameters.get("classifier.weight")),
                    algebra.graph().parameter(parameters.get("classifier.bias")));
        }
        double[] weight = parameters.get("classifier.weight").value().toDoubles();
        double[] bias = parameters.get("classifier.bias").value().toDoubles();
        ParameterSet norm = parameters.under("norm");
        double[] gamma = norm.get("weight").value().toDoubles();
        double[] beta = norm.get("bias").value().toDoubles();
        double[] mean = norm.get("running_mean").value().toDoubles();
        double[] variance = norm.get("running_var").value().toDoubles();
        int length = weight.length / bias.length;
        for (int k = 0; k < bias.length; k++) {
            double factor = gamma[k] / Math.sqrt(variance[k] + BatchNorm.STANDARD.epsilon());
            bias[k] = (bias[k] - mean[k]) * factor + beta[k];
            for (int i = 0; i < length; i++) {
                weight[k * length + i] *= factor;
            }
        }
        return algebra.linear(
                descriptors,
                algebra.graph().constant("weight", List.of((long) bias.length, (long) length), weight),
                algebra.graph().constant("bias", List.of((long) bias.length), bias));
    }
}
