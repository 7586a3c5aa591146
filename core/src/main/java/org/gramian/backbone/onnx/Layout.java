package org.gramian.backbone.onnx;

import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Arrangement of the feature maps {@code [d, h, w]} of an image in a tensor of the graph.
 *
 * @param prefix number of tokens before those of the patches, such as the class token; 0 if there are no tokens
 */
public record Layout(Kind kind, int prefix) {
    public enum Kind {
        /** {@code [n, d, h, w]}. */
        MAPS,
        /** {@code [n, h, w, d]}. */
        CHANNELS_LAST,
        /** {@code [n, prefix + h·w, d]}. */
        TOKENS,
        /** {@code [n, d]}: maps of one position. */
        VECTOR
    }

    static final Layout MAPS = new Layout(Kind.MAPS, 0);

    /** Returns the shape of the tensor for a number of images. */
    Shape tensor(long images, Shape maps) {
        long d = maps.at(0);
        long h = maps.at(1);
        long w = maps.at(2);
        return switch (kind) {
            case MAPS -> Shape.of(images, d, h, w);
            case CHANNELS_LAST -> Shape.of(images, h, w, d);
            case TOKENS -> Shape.of(images, prefix + h * w, d);
            case VECTOR -> Shape.of(images, d);
        };
    }

    Shape maps(Shape tensor, long height, long width) {
        return switch (kind) {
            case MAPS -> Shape.of(tensor.at(1), tensor.at(2), tensor.at(3));
            case CHANNELS_LAST -> Shape.of(tensor.at(3), tensor.at(1), tensor.at(2));
            case TOKENS -> Shape.of(tensor.at(2), height, width);
            case VECTOR -> Shape.of(tensor.at(1), 1, 1);
        };
    }

    /** Converts a tensor to what is passed on to the next layer: maps, or tokens as they are. */
    Var passed(Var tensor) {
        return switch (kind) {
            case MAPS, TOKENS -> tensor;
            case CHANNELS_LAST -> tensor.permute(0, 3, 1, 2);
            case VECTOR -> tensor.reshape(tensor.shape().at(0), tensor.shape().at(1), 1, 1);
        };
    }

    /** Converts what was passed on to a tensor of the graph. */
    Var tensor(Var passed) {
        return switch (kind) {
            case MAPS, TOKENS -> passed;
            case CHANNELS_LAST -> passed.permute(0, 2, 3, 1);
            case VECTOR -> passed.reshape(passed.shape().at(0), passed.shape().at(1));
        };
    }

    /** Returns the feature maps of what is passed on. */
    Var features(Var passed, Shape maps) {
        if (kind != Kind.TOKENS) {
            return passed;
        }
        Var patches =
                prefix == 0 ? passed : passed.slice(1, prefix, passed.shape().at(1));
        return patches.transpose(1, 2).split(2, maps.at(1), maps.at(2));
    }
}
