package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.basis.NearestWord;
import org.gramian.tensor.Shape;

/**
 * Feature layers of a network: one layer, or two to four, written {@code a+b}, whose maps are resized to the height and
 * width of the first and concatenated along channels.
 *
 * @param layers one to four layer names in the network's order
 */
record LayerSelection(Network network, List<String> layers) {
    /** Separator in the text form. */
    private static final String AND = "+";

    private static final int MAX_LAYERS = 4;

    LayerSelection {
        layers = List.copyOf(layers);
    }

    /**
     * Parses {@code a}, {@code a+b}, {@code a+b+c} or {@code a+b+c+d}.
     *
     * @throws IllegalArgumentException if a layer is unknown or the order is wrong; the message lists the layers
     */
    static LayerSelection of(Network network, String text) {
        List<String> layers = List.of(text.split("\\+", -1));
        LayerSelection cut = new LayerSelection(network, layers);
        for (String layer : layers) {
            if (cut.end(layer) == 0) {
                throw new IllegalArgumentException(network.name() + " has no layer '" + layer + "'"
                        + NearestWord.suggestion(layer, names(network)) + "; it has "
                        + String.join(", ", names(network)));
            }
        }
        if (layers.size() > MAX_LAYERS) {
            throw new IllegalArgumentException(
                    "expected at most " + MAX_LAYERS + " layers of a network, found " + layers.size() + " in '" + text
                            + "'; remove " + String.join(", ", layers.subList(MAX_LAYERS, layers.size())));
        }
        cut.requireOrder();
        return cut;
    }

    private static List<String> names(Network network) {
        return network.stages().stream().map(NetworkLayer::name).toList();
    }

    private void requireOrder() {
        for (int i = 1; i < layers.size(); i++) {
            if (end(layers.get(i - 1)) >= end(layers.get(i))) {
                List<String> sorted =
                        names(network).stream().filter(layers::contains).toList();
                throw new IllegalArgumentException(
                        "expected layers in the order of the network, the earlier one first, each once; found '"
                                + text() + "' of " + network.name() + "; try --layer " + String.join(AND, sorted));
            }
        }
    }

    /** Returns the number of layers up to this one; 0 if there is none of the name. */
    private int end(String layer) {
        int end = 0;
        for (NetworkLayer stage : network.stages()) { // lists of names took most of the time for 20,000 layers
            end++;
            if (stage.name().equals(layer)) {
                return end;
            }
        }
        return 0;
    }

    String text() {
        return String.join(AND, layers);
    }

    /** Returns all layers up to the last feature layer. */
    List<NetworkLayer> stages() {
        return network.stages().subList(0, end(layers.getLast()));
    }

    /** Returns all layers after the last feature layer. */
    List<NetworkLayer> following() {
        return network.stages().subList(end(layers.getLast()), network.stages().size());
    }

    /** Returns whether the output of a layer is part of the features. */
    boolean takes(NetworkLayer stage) {
        return layers.contains(stage.name());
    }

    /** Returns the number of channels of each feature layer. */
    List<Long> channels() {
        return layerShapes(network.about().size(), network.about().size()).stream()
                .map(shape -> shape.at(0))
                .toList();
    }

    /**
     * Returns the shape {@code [c, h, w]} of the features, at the size of the first feature layer; a side is 0 if
     * images are too small.
     */
    Shape features(int height, int width) {
        List<Shape> taken = layerShapes(height, width);
        long channels = taken.stream().mapToLong(shape -> shape.at(0)).sum();
        boolean fits = taken.getLast().elements() > 0;
        return fits ? taken.getFirst().with(0, channels) : Shape.of(channels, 0, 0);
    }

    /** Returns whether the feature layers differ in size for images of the network's usual size. */
    boolean resizes() {
        List<Shape> shapes = layerShapes(network.about().size(), network.about().size());
        Shape first = shapes.getFirst();
        return shapes.stream().anyMatch(shape -> shape.at(1) != first.at(1) || shape.at(2) != first.at(2));
    }

    /** Returns the shape {@code [c, h, w]} of the last feature layer's maps for a height and width of the first one's. */
    Shape lastFromFirst(long height, long width) {
        Shape maps = Shape.of(channels().getFirst(), height, width);
        for (NetworkLayer stage : stages().subList(end(layers.getFirst()), end(layers.getLast()))) {
            maps = maps.elements() == 0 ? maps : stage.output(maps);
        }
        return maps;
    }

    private List<Shape> layerShapes(int height, int width) {
        List<Shape> taken = new ArrayList<>();
        Shape maps = Shape.of(NetworkLayer.COLOURS, height, width);
        for (NetworkLayer stage : stages()) {
            maps = maps.elements() == 0 ? maps.with(0, stage.channels(maps.at(0))) : stage.output(maps);
            if (takes(stage)) {
                taken.add(maps);
            }
        }
        return taken;
    }
}
