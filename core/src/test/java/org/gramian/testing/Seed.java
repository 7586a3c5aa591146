package org.gramian.testing;

import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** The seed of one run of a {@link RandomTest}. */
public record Seed(long value) {
    /** A generator that starts at this seed. */
    public SplittableRandom random() {
        return new SplittableRandom(value);
    }

    /** Gaussian numbers in double precision that depend on the seed and the shape only. */
    public Tensor gaussian(long... sizes) {
        return Tensors.gaussian(random(), Shape.of(sizes), DType.F64);
    }

    @Override
    public String toString() {
        return "seed " + value;
    }
}
