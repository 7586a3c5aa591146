package org.gramian.backbone.onnx;

import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a tensor before the graph runs.
 *
 * @param constant elements, or null if they depend on images or weights
 * @param batch dimension that holds the images, or −1 for weights and constants
 * @param outer elements of that dimension before the images change: 1, or t if {@code [t, n]} were joined to {@code
 *     [t·n]}
 */
public record Operand(Shape shape, @Nullable HostTensor constant, int batch, long outer) {
    static final Operand ABSENT = of(HostTensor.of());

    static Operand of(HostTensor constant) {
        return new Operand(constant.shape(), constant, -1, 1);
    }

    static Operand computed(Shape shape, int batch) {
        return new Operand(shape, null, batch, 1);
    }

    /** Returns a tensor that is computed from this one, with the same images in another dimension. */
    Operand to(Shape result, int dimension) {
        return new Operand(result, null, data() ? Math.max(0, dimension) : -1, outer);
    }

    /** Returns a tensor that is computed from this one, with the images in the same dimension. */
    Operand to(Shape result) {
        return to(result, batch);
    }

    boolean data() {
        return batch >= 0;
    }

    long size(int dimension) {
        return shape.at(dimension);
    }

    int rank() {
        return shape.rank();
    }
}
