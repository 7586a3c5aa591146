package org.gramian.backbone.onnx;

import java.util.List;

/**
 * Operator with what is known of its inputs.
 *
 * @param inputs {@link Operand#ABSENT} for absent ones
 * @param opset version of the operators
 * @param batch number of images in the shapes
 * @param images factor of the batch dimension: the number of images if shapes are those of one image, else 1
 */
record NodeContext(OnnxNode node, List<Operand> inputs, int opset, long batch, long images) {
    Operand in(int i) {
        if (i >= inputs.size()) {
            throw error("expected at least " + (i + 1) + " inputs, found " + inputs.size());
        }
        return inputs.get(i);
    }

    /** Returns an input of a rank. */
    Operand in(int i, int rank) {
        if (in(i).rank() != rank) {
            throw error("expected " + rank + " dimensions of input " + i + ", found " + in(i).shape());
        }
        return in(i);
    }

    boolean has(int input) {
        return node.has(input);
    }

    /** Returns the sizes of a result for all images. */
    long[] sizes(Operand result) {
        long[] sizes = result.shape().sizes();
        if (result.data() && images > 1) {
            sizes[result.batch()] *= images;
        }
        return sizes;
    }

    /** Throws if a dimension holds images of a file for one image, so that it cannot be taken apart. */
    void requireNoImages(Operand x, int dimension) {
        if (images > 1 && dimension == x.batch()) {
            throw error("expected another dimension than the images of " + x.shape() + ", found " + dimension
                    + "; export with a dynamic batch size: dynamic_axes={'images': {0: 'n'}}");
        }
    }

    /** Returns a constant input. */
    HostTensor constant(int input) {
        HostTensor constant = input < inputs.size() ? inputs.get(input).constant() : null;
        if (constant == null) {
            throw error("expected a constant as input " + input
                    + ", found data; export with fixed sizes or with constant folding");
        }
        return constant;
    }

    /** Returns the integers of a constant input; none if it is absent. */
    long[] integers(int input) {
        return has(input) ? constant(input).integers() : new long[0];
    }

    /** Returns a constant input of one element. */
    double number(int input) {
        HostTensor value = constant(input);
        if (value.values().length != 1) {
            throw error("expected one number as input " + input + ", found " + value);
        }
        return value.values()[0];
    }

    /** Returns a constant input of one element, or the default if it is absent. */
    double number(int input, double defaultValue) {
        return has(input) ? number(input) : defaultValue;
    }

    /** Returns the dimension that the attribute {@code axis} names, 0 or more. */
    int axis(long defaultValue) {
        return ShapeRules.axis(node, node.integer("axis", defaultValue), in(0).rank());
    }

    IllegalArgumentException error(String problem) {
        return node.error(problem);
    }
}
