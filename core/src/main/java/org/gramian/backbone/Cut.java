package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.tensor.Shape;

/**
 * Where a network ends: after a layer, or after two layers whose maps have the same sides and are stacked, written {@code
 * a+b}, as cross-layer pooling wants them.
 *
 * @param network the network
 * @param layers one or two names of layers, in the network's order
 */
record Cut(Network network, List<String> layers) {
    /** Between two layers in the text of a cut. */
    private static final String AND = "+";

    Cut {
        layers = List.copyOf(layers);
    }

    /**
     * Reads {@code a} or {@code a+b}.
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
        if (layers.size() > 2) {
            throw new IllegalArgumentException("a network is cut at one layer, or at two as a+b, found '" + text + "'");
        }
        if (layers.size() == 2) {
            cut.requirePair();
        }
        return cut;
    }

    private static List<String> names(Network network) {
        return network.stages().stream().map(Stage::name).toList();
    }

    private void requirePair() {
        if (end(layers.getFirst()) >= end(layers.getLast())) {
            throw new IllegalArgumentException(
                    "two layers are written in the order of the network, the earlier one first," + " found '" + text()
                            + "' of " + network.name());
        }
        int side = network.about().size();
        if (features(side, side).elements() == 0) {
            List<String> partners = names(network)
                    .subList(end(layers.getFirst()), names(network).size())
                    .stream()
                    .filter(later -> new Cut(network, List.of(layers.getFirst(), later))
                                    .features(side, side)
                                    .elements()
                            > 0)
                    .toList();
            throw new IllegalArgumentException(
                    "the maps of two layers are stacked, so their sides must be the same; found"
                            + " '" + text() + "' with " + shape(layers.getFirst(), side) + " and "
                            + shape(layers.getLast(), side)
                            + " of pictures of " + side + "×" + side + "; "
                            + (partners.isEmpty()
                                    ? "no later layer has those of " + layers.getFirst()
                                    : layers.getFirst() + " goes with " + String.join(", ", partners)));
        }
    }

    private Shape shape(String layer, int side) {
        return new Cut(network, List.of(layer)).features(side, side);
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

    /** The shape {@code [c, h, w]} of the features; a side is 0 where pictures do not fit, or two layers do not. */
    Shape features(int height, int width) {
        List<Shape> taken = new ArrayList<>();
        Shape maps = Shape.of(Network.COLOURS, height, width);
        for (Stage stage : stages()) {
            maps = maps.elements() == 0 ? maps : stage.output(maps);
            if (takes(stage)) {
                taken.add(maps);
            }
        }
        Shape first = taken.getFirst();
        boolean equal = first.at(1) == maps.at(1) && first.at(2) == maps.at(2);
        long channels = taken.stream().mapToLong(shape -> shape.at(0)).sum();
        return equal ? maps.with(0, channels) : Shape.of(channels, 0, 0);
    }
}
