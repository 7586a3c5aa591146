package org.gramian.backbone.onnx;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Node of a {@link Segment} for one image size, to be copied to another file: constants that depend on sizes are
 * computed.
 *
 * @param at the node with what is known of its inputs
 */
public record PlannedNode(NodeContext at, List<Tensor> inputs, List<Tensor> outputs) {
    /**
     * Input or output.
     *
     * @param name name of the tensor, in the file if it is a weight; empty if an optional input is absent
     * @param sizes sizes, −1 for the dimension of the images
     * @param constant elements for one image, or null if they depend on images or weights
     */
    public record Tensor(
            String name, List<Long> sizes, @Nullable HostTensor constant) {}

    public OnnxNode node() {
        return at.node();
    }

    /** Returns the dimension that the attribute {@code axis} names, 0 or more. */
    public int axis(long defaultValue) {
        return at.axis(defaultValue);
    }

    /** Returns whether a softmax is over its dimension and all later ones, as before operator set 13. */
    public boolean isFlatSoftmax() {
        return at.opset() < 13;
    }

    /** Returns the dimensions of a reduction. */
    public int[] reducedAxes() {
        return ShapeRules.reduction(at).axes();
    }

    /** Returns the parts that Slice takes. */
    public List<ShapeRules.Range> ranges() {
        return ShapeRules.ranges(at);
    }

    /** Returns the rows and columns that nearest resizing takes. */
    public List<long[]> nearest() {
        return MapOperators.nearest(at);
    }
}
