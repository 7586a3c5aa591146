package org.gramian.testing;

import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Random integers from −4 to 4, of which products and sums are exact in float32. */
public final class SmallIntegers {
    private SmallIntegers() {}

    /** Draws a tensor in double precision. */
    public static Tensor draw(SplittableRandom random, Shape shape) {
        double[] values = random.ints(shape.elements(), -4, 5).asDoubleStream().toArray();
        return Tensors.of(values, shape, DType.F64);
    }
}
