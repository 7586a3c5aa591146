package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** Differentiable changes of shape. */
public final class Shapes {
    private Shapes() {}

    /** Reshapes in row-major order. */
    public static Var reshape(Var x, long... sizes) {
        return x.tape()
                .apply(
                        List.of(x),
                        () -> Result.of(
                                Views.reshape(x.value(), sizes),
                                (g, wanted) -> list(Views.reshape(g, x.shape().sizes()))));
    }

    /** Swaps two dimensions. */
    public static Var transpose(Var x, int first, int second) {
        return x.tape()
                .apply(
                        List.of(x),
                        () -> Result.of(
                                Views.transpose(x.value(), first, second),
                                (g, wanted) -> list(Views.transpose(g, first, second))));
    }

    /** Returns the elements from {@code start} (inclusive) to {@code end} (exclusive) along one dimension. */
    public static Var slice(Var x, int dimension, long start, long end) {
        return x.tape()
                .apply(
                        List.of(x),
                        () -> Result.of(Views.slice(x.value(), dimension, start, end), (g, wanted) -> {
                            Tensor gradient = Tensors.zeros(x.shape(), g.type(), g.device());
                            Views.slice(gradient, dimension, start, end).copyFrom(g);
                            return list(gradient);
                        }));
    }

    /** Pads with zeros before the elements along one dimension. */
    public static Var zerosBefore(Var x, int dimension, long zeros) {
        long size = x.shape().at(dimension);
        return x.tape().apply(List.of(x), () -> {
            Tensor longer = Tensors.zeros(
                    x.shape().with(dimension, zeros + size),
                    x.value().type(),
                    x.value().device());
            Views.slice(longer, dimension, zeros, zeros + size).copyFrom(x.value());
            return Result.of(longer, (g, wanted) -> list(Views.slice(g, dimension, zeros, zeros + size)));
        });
    }

    /** Concatenates along one dimension. */
    public static Var concat(List<Var> parts, int dimension) {
        List<Tensor> values = parts.stream().map(Var::value).toList();
        return parts.getFirst()
                .tape()
                .apply(
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
