package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import org.gramian.backbone.onnx.Planned.Site;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Window.Pair;
import org.jspecify.annotations.Nullable;

/**
 * Operator of a {@link Segment} for one image size, to be written to a file again: whatever depends on the operator set
 * or on sizes is resolved.
 *
 * <p>Fused operators are listed in {@link Fusion}.
 */
public final class Operation {
    private final Site site;
    private final List<Tensor> inputs;
    private final List<Tensor> outputs;

    /**
     * Input or output.
     *
     * @param name name of the tensor, in the file if it is a weight; empty if an optional input is absent
     * @param sizes sizes, −1 for the dimension of the images
     * @param constant elements for one image, or null if they depend on images or weights
     */
    public record Tensor(
            String name, List<Long> sizes, @Nullable HostTensor constant) {
        public Tensor {
            sizes = List.copyOf(sizes);
        }
    }

    /**
     * Sliding window; each list has vertical and horizontal numbers.
     *
     * @param size rows and columns
     * @param strides steps
     * @param dilations steps between elements
     * @param pads padding at the top, left, bottom and right
     */
    public record Geometry(List<Long> size, List<Long> strides, List<Long> dilations, List<Long> pads) {
        static Geometry of(Pair size, Pair stride, Pair dilation, Pair before, Pair after) {
            return new Geometry(
                    list(size),
                    list(stride),
                    list(dilation),
                    List.of((long) before.vertical(), (long) before.horizontal(), (long) after.vertical(), (long)
                            after.horizontal()));
        }

        private static List<Long> list(Pair pair) {
            return List.of((long) pair.vertical(), (long) pair.horizontal());
        }
    }

    Operation(Site site, List<Tensor> inputs, List<Tensor> outputs) {
        this.site = site;
        this.inputs = List.copyOf(inputs);
        this.outputs = List.copyOf(outputs);
    }

    /** Returns the type, such as {@code Conv}. */
    public String operator() {
        return site.node().operator();
    }

    public List<Tensor> inputs() {
        return inputs;
    }

    public List<Tensor> outputs() {
        return outputs;
    }

    /** Returns whether an optional input is present. */
    public boolean has(int input) {
        return site.node().has(input);
    }

    /** Returns an attribute, or the default. */
    public double number(String attribute, double otherwise) {
        return site.node().number(attribute, otherwise);
    }

    /** Returns a constant input of one element, or an attribute, or the default. */
    public double number(int input, String attribute, double otherwise) {
        return site.number(input, attribute, otherwise);
    }

    /** Returns an attribute, or the default. */
    public String text(String attribute, String otherwise) {
        return site.node().text(attribute, otherwise);
    }

    /** Returns the activation of a fused operator. */
    public Activation activation() {
        return Fusion.activation(site.node());
    }

    /** Returns the dimension of Concat, Gather or LayerNormalization, 0 or more. */
    public int axis(long otherwise) {
        return ShapeRules.axis(
                site.node(), site.node().whole("axis", otherwise), site.in(0).rank());
    }

    /** Returns the dimension of a softmax. */
    public int softmaxAxis() {
        return axis(isFlatSoftmax() ? 1 : -1);
    }

    /** Returns whether a softmax is over its dimension and all later ones, as before operator set 13. */
    public boolean isFlatSoftmax() {
        return site.opset() < 13;
    }

    /** Returns the order of dimensions of a transpose. */
    public int[] order() {
        return ShapeRules.permutation(site.node(), site.in(0).rank());
    }

    /** Returns the dimensions of a reduction. */
    public int[] axes() {
        return ShapeRules.reduction(site.node(), site.in(0).shape(), site.inputs())
                .axes();
    }

    /** Returns the ranges that Slice takes. */
    public List<ShapeRules.Range> ranges() {
        return ShapeRules.ranges(site.node(), site.in(0).shape(), site.inputs());
    }

    /** Returns the sizes of the parts of Split. */
    public long[] parts() {
        return ShapeRules.parts(site.node(), site.in(0).size(axis(0)), site.inputs());
    }

    /** Returns the indexes of Gather, 0 or more. */
    public long[] places() {
        long size = site.in(0).size(axis(0));
        long[] given = ShapeRules.constant(site.node(), site.inputs(), 1).longs();
        return Arrays.stream(given).map(i -> i < 0 ? i + size : i).toArray();
    }

    /** Returns the padding of Pad before and after each dimension. */
    public long[] pads() {
        return site.list(1, "pads");
    }

    /** Returns the window of a convolution or pooling. */
    public Geometry window() {
        return MapOperators.geometry(site);
    }

    /** Returns the rows and columns of the input that are those of the output, of nearest resizing. */
    public List<long[]> nearest() {
        return MapOperators.nearest(site);
    }

    @Override
    public String toString() {
        return site.node().toString();
    }
}
