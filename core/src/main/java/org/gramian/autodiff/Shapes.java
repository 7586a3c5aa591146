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
        long size = x.shape().at(dimension);
        UnaryOperator<Tensor> pad = v -> {
            Tensor padded = Tensors.zeros(v.shape().with(dimension, zeros + size), v.type(), v.device());
            Views.slice(padded, dimension, zeros, zeros + size).copyFrom(v);
            return padded;
        };
        return Arithmetic.unary(x, pad, (g, y) -> Views.slice(g, dimension, zeros, zeros + size));
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
