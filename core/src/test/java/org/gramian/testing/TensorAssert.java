package org.gramian.testing;

import org.assertj.core.api.AbstractAssert;
import org.assertj.core.api.Assertions;
import org.gramian.tensor.Tensor;

/** Assertions on the shape and the elements of a tensor. */
public final class TensorAssert extends AbstractAssert<TensorAssert, Tensor> {
    private TensorAssert(Tensor actual) {
        super(actual, TensorAssert.class);
    }

    public static TensorAssert assertTensor(Tensor actual) {
        return new TensorAssert(actual);
    }

    /** The same shape, and elements that differ by at most the tolerance times the largest expected magnitude. */
    public TensorAssert isCloseTo(Grid expected, double tolerance) {
        Assertions.assertThat(actual.shape()).as(descriptionText()).isEqualTo(expected.shape());
        double[] found = actual.toDoubles();
        double scale = 1e-300;
        for (double value : expected.values()) {
            scale = Math.max(scale, Math.abs(value));
        }
        for (int k = 0; k < found.length; k++) {
            if (!(Math.abs(found[k] - expected.values()[k]) <= tolerance * scale)) {
                failWithMessage(
                        "element %s of %s must be %s, found %s (tolerance %s of %s)",
                        k, actual, expected.values()[k], found[k], tolerance, scale);
            }
        }
        return this;
    }

    public TensorAssert isCloseTo(Tensor expected, double tolerance) {
        return isCloseTo(Grid.of(expected), tolerance);
    }

    /** The same type, shape and bytes. */
    public TensorAssert isIdenticalTo(Tensor expected) {
        Assertions.assertThat(actual.type()).as(descriptionText()).isEqualTo(expected.type());
        Assertions.assertThat(actual.shape()).as(descriptionText()).isEqualTo(expected.shape());
        Assertions.assertThat(actual.toBytes()).as(descriptionText()).isEqualTo(expected.toBytes());
        return this;
    }
}
