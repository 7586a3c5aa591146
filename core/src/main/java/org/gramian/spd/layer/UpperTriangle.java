package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf.Backward;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Vectorization of symmetric matrices: the upper triangle in row-major order, off-diagonal elements times √2, so that
 * {@code ‖v‖₂ = ‖Y‖_F}; {@code [n, C, C]} to {@code [n, C(C+1)/2]}.
 *
 * <p>Backward: {@code E_ii = g_k}, {@code E_ij = E_ji = g_k·√2/2}. The paper prints √2 on both sides, which doubles the
 * off-diagonal gradient: {@link Backward#PRINTED}.
 */
public final class UpperTriangle {
    private record Key(long size, DType type, Device device, Backward backward) {}

    /** Indices from vector to flattened matrix and back, and the factors of both directions. */
    public record Layout(Tensor toVector, Tensor toMatrix, Tensor factors, Tensor gradientFactors) {}

    /** Layouts by size; a process uses few sizes. */
    private static final Map<Key, Layout> LAYOUTS = new ConcurrentHashMap<>();

    private UpperTriangle() {}

    /** Returns the length {@code C(C+1)/2} of the vector for matrices of size C. */
    public static long length(long size) {
        return size * (size + 1) / 2;
    }

    /** Vectorizes with the derivative or the paper's formula as backward pass: matrices {@code [n, C, C]}; returns {@code [n, C(C+1)/2]}. */
    public static Var vectorize(Var matrices, Backward backward) {
        Tensor y = matrices.value();
        if (y.shape().rank() != 3 || y.size(1) != y.size(2)) {
            throw new IllegalArgumentException("triu: expected matrices [n, C, C], found " + y);
        }
        long n = y.size(0);
        long size = y.size(1);
        Layout layout = layout(size, y, backward);
        return matrices.tape().apply(List.of(matrices), () -> {
            Tensor elements = y.reshape(n, size * size).select(1, layout.toVector());
            return Result.of(elements.mulInPlace(layout.factors()), (g, wanted) -> {
                Tensor half = g.mul(layout.gradientFactors());
                return list(half.select(1, layout.toMatrix()).reshape(n, size, size));
            });
        });
    }

    /** Returns the indices and factors for matrices of a size, of the type and device of a tensor. */
    public static Layout layout(long size, Tensor like, Backward backward) {
        return LAYOUTS.computeIfAbsent(new Key(size, like.type(), like.device(), backward), UpperTriangle::layout);
    }

    private static Layout layout(Key key) {
        int size = Math.toIntExact(key.size());
        int length = Math.toIntExact(length(size));
        long[] toVector = new long[length];
        long[] toMatrix = new long[size * size];
        double[] factors = new double[length];
        double[] gradientFactors = new double[length];
        double ofBoth = key.backward() == Backward.EXACT ? Math.sqrt(2) / 2 : Math.sqrt(2);
        int k = 0;
        for (int i = 0; i < size; i++) {
            for (int j = i; j < size; j++, k++) {
                toVector[k] = (long) i * size + j;
                toMatrix[i * size + j] = k;
                toMatrix[j * size + i] = k;
                factors[k] = i == j ? 1 : Math.sqrt(2);
                gradientFactors[k] = i == j ? 1 : ofBoth;
            }
        }
        Shape shape = Shape.of(length);
        try (Scope _ = Scope.open()) {
            return new Layout(
                    detached(Tensors.ofLongs(toVector, shape), key.device()),
                    detached(Tensors.ofLongs(toMatrix, Shape.of((long) size * size)), key.device()),
                    detached(Tensors.of(factors, shape, key.type()), key.device()),
                    detached(Tensors.of(gradientFactors, shape, key.type()), key.device()));
        }
    }

    private static Tensor detached(Tensor made, Device device) {
        Tensor there = made.to(device);
        Scope.detach(there);
        return there;
    }
}
