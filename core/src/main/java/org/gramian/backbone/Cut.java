package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.tensor.Shape;

/**
 * Where a network ends: after a layer, or after two to four layers, written {@code a+b}, whose maps are resized to the height
 * and width of the first one and stacked along channels.
 *
 * @param network the network
 * @param layers one to four names of layers, in the network's order
 */
record Cut(Network network, List<String> layers) {
    /** Between two layers in the text of a cut. */
    private static final String AND = "+";

    private static final int MOST_LAYERS = 4;

    Cut {
        layers = List.copyOf(layers);
    }

    /**
     * Reads {@code a}, {@code a+b}, {@code a+b+c} or {@code a+b+c+d}.
     *
     * @throws IllegalArgumentException if the network cannot be cut there; the message says where it can
     */
    static Cut of(Network network, String text) {
        List<String> layers = List.of(text.split("\\+", -1));
        for (String layer : layers) {
            if (!names(network).contains(layer)) {
                throw new IllegalArgumentException(network.name() + " has no layer '" + layer + "'"
                        + NearestWord.suggestion(layer, names(network)) + "; it has "
                        + String.join(", ", names(network)));
            }
        }
        Cut cut = new Cut(network, layers);
        if (layers.size() > MOST_LAYERS) {
            throw new IllegalArgumentException(
                    "expected at most " + MOST_LAYERS + " layers of a network, found " + layers.size() + " in '" + text
                            + "'; remove " + String.join(", ", layers.subList(MOST_LAYERS, layers.size())));
        }
        cut.requireOrder();
        return cut;
    }

    private static List<String> names(Network network) {
        return network.stages().stream().map(Stage::name).toList();
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

    private int end(String layer) {
        return names(network).indexOf(layer) + 1;
    }

    /** As it is written. */
    String text() {
        return String.join(AND, layers);
    }

    /** All stages up to the last layer. */
    List<Stage> stages() {
        return network.stages().subList(0, end(layers.getLast()));
    }

    /** All stages after the last layer. */
    List<Stage> following() {
        return network.stages().subList(end(layers.getLast()), network.stages().size());
    }

    /** Whether the maps that leave a stage are among the features. */
    boolean takes(Stage stage) {
        return layers.contains(stage.name());
    }

    /** Maps that leave each of the layers. */
    List<Long> channels() {
        List<Long> channels = new ArrayList<>();
        long maps = Network.COLOURS;
        for (Stage stage : stages()) {
            maps = stage.channels(maps);
            if (takes(stage)) {
                channels.add(maps);
            }
        }
        return channels;
    }

    /**
     * Returns the shape {@code [c, h, w]} of the features: all channels on the grid of the first layer; a side is 0 where
     * images do not fit.
     */
    Shape features(int height, int width) {
        List<Shape> taken = layerShapes(height, width);
        long channels = taken.stream().mapToLong(shape -> shape.at(0)).sum();
        boolean fits = taken.getLast().elements() > 0;
        return fits ? taken.getFirst().with(0, channels) : Shape.of(channels, 0, 0);
    }

    /** Whether the layers have maps of different sizes, for images of the size that the network was made for. */
    boolean resizes() {
        List<Shape> shapes = layerShapes(network.about().size(), network.about().size());
        Shape first = shapes.getFirst();
        return shapes.stream().anyMatch(shape -> shape.at(1) != first.at(1) || shape.at(2) != first.at(2));
    }

    /** Returns the height and width of the last layer's maps, as {@code [c, h, w]}, for maps of the first layer's. */
    Shape lastFromFirst(long height, long width) {
        Shape maps = Shape.of(channels().getFirst(), height, width);
        for (Stage stage : stages().subList(end(layers.getFirst()), end(layers.getLast()))) {
            maps = maps.elements() == 0 ? maps : stage.output(maps);
        }
        return maps;
    }

    private List<Shape> layerShapes(int height, int width) {
        List<Shape> taken = new ArrayList<>();
        Shape maps = Shape.of(Network.COLOURS, height, width);
        for (Stage stage : stages()) {
            maps = maps.elements() == 0 ? maps.with(0, stage.channels(maps.at(0))) : stage.output(maps);
            if (takes(stage)) {
                taken.add(maps);
            }
        }
        return taken;
    }
}
