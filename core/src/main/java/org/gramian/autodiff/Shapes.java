package org.gramian.autodiff;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** Differentiable changes of shape. */
public final class Shapes {
    private Shapes() {}

    /** Reshapes in row-major order. */
    public static Var reshape(Var x, long... sizes) {
        return Arithmetic.unary(
                x,
                v -> Views.reshape(v, sizes),
                (g, y) -> Views.reshape(g, x.shape().sizes()));
    }

    /** Swaps two dimensions. */
    public static Var transpose(Var x, int first, int second) {
        return Arithmetic.unary(x, v -> Views.transpose(v, first, second), (g, y) -> Views.transpose(g, first, second));
    }

    /** Reorders dimensions: dimension i of the result is dimension {@code order[i]} of x. */
    public static Var permute(Var x, int... order) {
        int[] inverse = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            inverse[order[i]] = i;
        }
        return Arithmetic.unary(x, v -> Views.permute(v, order), (g, y) -> Views.permute(g, inverse));
    }

    /** Splits one dimension into several of the given sizes, without copying. */
    public static Var split(Var x, int dimension, long... sizes) {
        return Arithmetic.unary(
                x,
                v -> Views.split(v, dimension, sizes),
                (g, y) -> Views.reshape(g, x.shape().sizes()));
    }

    /** Repeats dimensions of size 1 to the given sizes, without copying. */
    public static Var expand(Var x, long... sizes) {
        return Arithmetic.unary(x, v -> Views.expand(v, sizes), (g, y) -> Arithmetic.sumTo(g, x.shape()));
    }

    /** Returns the elements from {@code start} (inclusive) to {@code end} (exclusive) along one dimension. */
    public static Var slice(Var x, int dimension, long start, long end) {
        return Arithmetic.unary(x, v -> Views.slice(v, dimension, start, end), (g, y) -> {
            Tensor gradient = Tensors.zeros(x.shape(), g.type(), g.device());
            Views.slice(gradient, dimension, start, end).copyFrom(g);
            return gradient;
        });
    }

    /** Pads with zeros before the elements along one dimension. */
    public static Var zerosBefore(Var x, int dimension, long zeros) {
        return pad(x, dimension, zeros, 0, 0);
    }

    /** Pads with a value before and after the elements along one dimension. */
    public static Var pad(Var x, int dimension, long before, long after, double value) {
        long end = before + x.shape().at(dimension);
        UnaryOperator<Tensor> pad = v -> {
            Tensor padded = Tensors.full(value, v.shape().with(dimension, end + after), v.type(), v.device());
            Views.slice(padded, dimension, before, end).copyFrom(v);
            return padded;
        };
        return Arithmetic.unary(x, pad, (g, y) -> Views.slice(g, dimension, before, end));
    }

    /**
     * Gathers entries along one dimension.
     *
     * @param places indexes, I64 on the device of x
     * @param distinct whether no index occurs twice, so that the gradient needs no sums
     */
    public static Var select(Var x, int dimension, Tensor places, boolean distinct) {
        return Arithmetic.unary(x, v -> Views.select(v, dimension, places), (g, y) -> {
            Tensor gradient = Tensors.zeros(x.shape(), g.type(), g.device());
            return distinct ? Views.put(gradient, dimension, places, g) : Views.addAt(gradient, dimension, places, g);
        });
    }

    /** Concatenates along one dimension. */
    public static Var concat(List<Var> parts, int dimension) {
        List<Tensor> values = parts.stream().map(Var::value).toList();
        Tape tape = parts.getFirst().tape();
        return tape.apply(
                parts,
                () -> Result.of(Views.concat(values, dimension), (g, wanted) -> {
                    List<@Nullable Tensor> gradients = new ArrayList<>();
                    long start = 0;
                    for (Tensor value : values) {
                        long end = start + value.size(dimension);
                        gradients.add(Views.slice(g, dimension, start, end));
                        start = end;
                    }
                    return gradients;
                }));
    }
}
