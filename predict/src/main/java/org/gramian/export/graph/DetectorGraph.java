package org.gramian.export.graph;

import java.util.List;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.backbone.onnx.OnnxWriter.ValueInfo;
import org.gramian.basis.Protobuf;
import org.gramian.tensor.Convolution.Window;

/**
 * Graph of a detector: {@code images [n, 3, height, width]} to {@code score [n]}, {@code map [n, rows, columns]}, {@code p_value [n]}
 * and the constant {@code threshold [1]}, by the formulas of {@link DetectorNetwork}.
 *
 * <p>Images are resized and preprocessed as the card says; n is open. {@code p = (1 + #{i : sᵢ ≥ score}) / (m + 1)} of the m calibration
 * scores of the card.
 */
public final class DetectorGraph {
    public static final String SCORE = "score";
    public static final String MAP = "map";
    public static final String P_VALUE = "p_value";
    public static final String THRESHOLD = "threshold";

    private DetectorGraph() {}

    /** Builds the graph of a detector, whose tensors must stay readable until it is written. */
    public static Protobuf.Writer of(DetectorNetwork network) {
        Graph graph = new Graph();
        DetectorCard card = network.card();
        HostParameters parameters = new HostParameters(graph, network.tensors(), "");
        List<Long> sizes = List.of(Value.BATCH, 3L, (long) card.height(), (long) card.width());
        Value images = graph.input(ModelGraph.IMAGES, sizes);
        Value features = graph.in("backbone", () -> features(network, parameters.under("backbone"), images));
        HostParameters patches = parameters.under("patches");
        Value map = graph.in("patches", () -> distances(network.kind(), patches, features))
                .scale(1 / card.patchScale());
        Value top = graph.in("score", () -> map.flatten().largest(network.top()).mean(1));
        Value score = card.wholeScale() > 0
                ? graph.in("whole", () -> {
                    Value mean = norm(whitened(parameters.under("whole"), features.mean(1)));
                    return top.add(mean.reshape(1).scale(1 / card.wholeScale())).scale(0.5);
                })
                : top;
        Value pValue = graph.in("p_value", () -> graph.pValue(card.calibration(), score));
        Value threshold = graph.constant("threshold/value", List.of(1L), card.threshold());
        return graph.message(
                new ValueInfo(
                        images.name(),
                        images.sizes(),
                        "images resized to " + card.width() + "x" + card.height() + ", preprocessed: "
                                + card.preprocessing().text()),
                graph.output(SCORE, score.reshape(), "distance from good images; 1 is typical of a good image"),
                graph.output(MAP, map.reshape(network.rows(), network.columns()), "score at each position"),
                graph.output(P_VALUE, pValue.reshape(), "share of good images that are at least as odd"),
                graph.output(THRESHOLD, threshold, "an image with a higher score is anomalous"));
    }

    /** Returns the features {@code [n, p, d]}. */
    private static Value features(DetectorNetwork network, HostParameters parameters, Value images) {
        Graph graph = images.graph();
        Window average = Window.of(3, 1).padded(1, 1);
        List<Value> layers = new NetworkLowering(graph, parameters)
                .layers(network.backbone(), images).stream()
                        .map(layer -> layer.averagePool(average).resize(network.rows(), network.columns()))
                        .toList();
        Value joined = layers.size() == 1 ? layers.getFirst() : graph.concat(layers, 1);
        return joined.reshape(joined.at(1), joined.at(2) * joined.at(3)).transpose();
    }

    /** Returns the distances {@code [n, p, 1]} of features {@code [n, p, d]}. */
    private static Value distances(String kind, HostParameters parameters, Value x) {
        return switch (kind) {
            case "GAUSSIAN" -> norm(whitened(parameters, x));
            case "NEIGHBOURS" -> {
                Value z = whitened(parameters, x);
                Value bank = parameters.value("bank");
                Value halves = bank.square().sum(1).scale(0.5).transpose();
                Value products = z.matmul(bank.transpose()).sub(halves); // ‖z − b‖² = ‖z‖² − 2 (z·b − ‖b‖²/2)
                Value nearest = products.reshape(z.at(1), 1, bank.at(0)).globalMax();
                yield z.square()
                        .sum(2)
                        .sub(nearest.reshape(z.at(1), 1).scale(2))
                        .relu()
                        .sqrt();
            }
            case "POSITIONS" -> {
                Value centred = x.sub(parameters.value("mean"));
                Value along = centred.permute(1, 0, 2).matmul(parameters.value("factor"));
                Value explained = along.square().sum(2).permute(1, 0, 2);
                Value whole =
                        centred.square().mul(parameters.value("precision")).sum(2);
                yield whole.sub(explained).relu().sqrt();
            }
            default -> throw new NotExpressibleException("the detector " + kind + " has no ONNX formula");
        };
    }

    private static Value whitened(HostParameters parameters, Value x) {
        return x.sub(parameters.value("mean"))
                .matmul(parameters.value("whitening").transpose());
    }

    private static Value norm(Value z) {
        return z.square().sum(2).sqrt();
    }
}
