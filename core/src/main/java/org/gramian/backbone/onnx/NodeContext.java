package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Operator with what is known of its inputs; every error names the node.
 *
 * @param inputs {@link Operand#ABSENT} for absent ones
 * @param images factor of the batch dimension: the number of images if shapes are those of one image, else 1
 * @param folded elements of constants that were read and computed so far, for all nodes of a plan
 */
public record NodeContext(OnnxNode node, List<Operand> inputs, int opset, long batch, long images, AtomicLong folded) {
    static final int MAX_RANK = 8;

    /** Maximum number of elements of one tensor for one image. */
    static final long MAX_ELEMENTS = 1L << 31;

    /** Maximum number of elements of all constants that are computed, and of the inputs that they are computed from. */
    private static final long MAX_FOLDED_ELEMENTS = 1L << 26;

    Operand in(int i) {
        if (i >= inputs.size()) {
            throw error("expected at least " + (i + 1) + " inputs, found " + inputs.size());
        }
        return inputs.get(i);
    }

    Operand in(int i, int rank) {
        if (in(i).rank() != rank) {
            throw error("expected " + rank + " dimensions of input " + i + ", found " + in(i).shape());
        }
        return in(i);
    }

    boolean has(int input) {
        return node.has(input);
    }

    /** Returns whether the result can be computed before the graph runs. */
    boolean isConstant() {
        return inputs.stream().allMatch(operand -> operand.constant() != null);
    }

    HostTensor constant(int input) {
        HostTensor constant = in(input).constant();
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
    public int axis(long defaultValue) {
        return axis(node.integer("axis", defaultValue), in(0).rank());
    }

    int axis(long axis, int rank) {
        long index = axis < 0 ? axis + rank : axis;
        if (index < 0 || index >= rank) {
            throw error("expected a dimension from " + -rank + " to " + (rank - 1) + ", found " + axis);
        }
        return (int) index;
    }

    /** Returns a shape; throws if it has too many dimensions or elements, or a negative size. */
    Shape shape(long... sizes) {
        if (sizes.length > MAX_RANK) {
            throw error("expected at most " + MAX_RANK + " dimensions, found " + sizes.length);
        }
        double elements = Arrays.stream(sizes).asDoubleStream().reduce(1, (a, b) -> a * b);
        if (Arrays.stream(sizes).anyMatch(size -> size < 0) || elements > MAX_ELEMENTS) {
            throw error("expected a shape of at most 2^31 elements, found " + Arrays.toString(sizes));
        }
        return Shape.of(sizes);
    }

    Shape broadcast(Shape a, Shape b) {
        long[] sizes = new long[Math.max(a.rank(), b.rank())];
        for (int i = 1; i <= sizes.length; i++) {
            long m = i > a.rank() ? 1 : a.at(-i);
            long n = i > b.rank() ? 1 : b.at(-i);
            if (m != n && m != 1 && n != 1) {
                throw error("shapes " + a + " and " + b + " do not fit: expected equal sizes or 1, found " + m + " and "
                        + n);
            }
            sizes[sizes.length - i] = m == 1 ? n : m;
        }
        return shape(sizes);
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

    /** Counts elements of constants, which are bounded in all. */
    void countFolded(long elements) {
        if (folded.addAndGet(elements) > MAX_FOLDED_ELEMENTS) {
            throw error(
                    "expected constants of at most " + MAX_FOLDED_ELEMENTS + " elements in all, found " + folded.get());
        }
    }

    BoundOperator constants(HostTensor... results) {
        return new BoundOperator(this, Arrays.stream(results).map(Operand::of).toList(), _ -> {
            throw new IllegalStateException("constants are not computed again");
        });
    }

    BoundOperator of(Operand output, Function<BoundOperator.Arguments, Var> kernel) {
        return new BoundOperator(this, List.of(output), in -> List.of(kernel.apply(in)));
    }

    BoundOperator map(Operand output, UnaryOperator<Var> function) {
        return of(output, in -> function.apply(in.get(0)));
    }

    IllegalArgumentException error(String problem) {
        return node.error(problem);
    }
}
