package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.backbone.Network.Cuts;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.OnnxStage;
import org.gramian.backbone.onnx.Layout.Kind;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.backbone.onnx.Segment;
import org.gramian.backbone.onnx.Segments;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/** Networks from ONNX graphs. */
final class OnnxNetworks {
    private static final BackboneInfo.Weights WEIGHTS =
            new BackboneInfo.Weights("an ONNX file", "that of the file, which Gramian does not know");

    /** Positions of a side of the feature maps, at the usual size of images, from which second order gains. */
    private static final int MANY_POSITIONS = 12;

    private OnnxNetworks() {}

    /**
     * Returns the network of a graph, cut into layers at every tensor through which all of the computation flows.
     *
     * <p>Layers have short names, see {@code LayerNames}; a vector at the end is {@link Backbone#LOGITS}. The default
     * layer is the last one with more than one position that is no pooling: the last convolution or block of a
     * convolutional network, the last tokens of a transformer. Poolings are compared on it and on the last layer with
     * about 14×14 positions.
     *
     * @param name name of the network
     * @param graph graph of an ONNX file
     * @param preprocessing preprocessing of its images
     * @throws IllegalArgumentException if the graph is not an image network
     */
    static Network network(String name, OnnxGraph graph, Preprocessing preprocessing) {
        List<NetworkLayer> stages = new ArrayList<>();
        int size = Segments.size(graph);
        Shape maps = Shape.of(NetworkLayer.COLOURS, size, size);
        Optional<String> last = Optional.empty();
        Optional<String> many = Optional.empty();
        List<Segment> segments = Segments.of(graph);
        for (Segment segment : segments) {
            boolean scores =
                    segment == segments.getLast() && segment.ends().leaving().kind() == Kind.VECTOR;
            NetworkLayer stage =
                    new OnnxStage(scores ? Backbone.LOGITS : segment.ends().name(), segment);
            stages.add(stage);
            maps = stage.output(maps);
            if (Math.min(maps.at(1), maps.at(2)) > 1 && !segment.lastOperator().endsWith("Pool")) {
                last = Optional.of(stage.name());
                many = Math.min(maps.at(1), maps.at(2)) >= MANY_POSITIONS ? last : many;
            }
        }
        String defaultLayer = last.orElse(stages.getLast().name());
        String selection = many.filter(layer -> !layer.equals(defaultLayer))
                .map(layer -> layer + "+" + defaultLayer)
                .orElse(defaultLayer);
        boolean scored = stages.getLast().name().equals(Backbone.LOGITS) && !defaultLayer.equals(Backbone.LOGITS);
        Cuts cuts = new Cuts(
                defaultLayer, selection, defaultLayer, scored ? Optional.of(Backbone.LOGITS) : Optional.empty());
        String citation = "imported from ONNX, operator set " + graph.opset();
        return new Network(name, stages, cuts, new BackboneInfo(name, citation, size, preprocessing, WEIGHTS));
    }

    /**
     * Returns the part of a network that computes one tensor.
     *
     * @param layer name of the tensor
     * @param whole the network, for its name and preprocessing
     * @param definition its graph
     * @throws IllegalArgumentException if there is no such tensor, or it is not made of maps
     */
    static Network upTo(String layer, Network whole, String definition) {
        OnnxGraph graph;
        try {
            graph = OnnxGraph.of(definition).upTo(layer);
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException(whole.name() + ": " + unknown.getMessage(), unknown);
        }
        Network part = network(whole.name(), graph, whole.about().preprocessing());
        List<NetworkLayer> stages = new ArrayList<>(part.stages());
        // the last layer of a graph may be named otherwise, such as logits
        if (stages.removeLast() instanceof OnnxStage last) {
            stages.add(new OnnxStage(layer, last.segment()));
        }
        return new Network(part.name(), stages, Cuts.withoutClassifier(layer), part.about());
    }
}
