package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * The polynomial kernel {@code K_ij = (a⟨f_i, f_j⟩ + b)^p}, plus {@code εI}; {@code dL/d⟨f_i, f_j⟩ = g_ij·a·p·(a⟨f_i,
 * f_j⟩ + b)^(p−1)}.
 *
 * @param degree p, a whole number
 * @param scale a
 * @param offset b
 * @param jitter ε
 */
public record Polynomial(int degree, double scale, double offset, double jitter) implements Kernel {
    public Polynomial {
        if (degree < 1 || !(scale > 0) || !(offset >= 0) || Double.isInfinite(scale + offset)) {
            throw new IllegalArgumentException("a polynomial kernel needs degree >= 1, scale > 0 and offset >= 0,"
                    + " found degree " + degree + ", scale " + scale + ", offset " + offset);
        }
        Kernel.requireJitter(jitter);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("polynomial", maps);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor m = maps.value();
            Tensor gram = Products.matmul(m, Views.transpose(m));
            Tensor base = Elementwise.add(Elementwise.mulInPlace(gram, scale), offset);
            Tensor k = Gram.withJitter(Elementwise.pow(base, degree), jitter);
            return Result.of(
                    k,
                    (g, wanted) -> {
                        Tensor slope = Elementwise.mulInPlace(Elementwise.pow(base, degree - 1), degree * scale);
                        return list(Gram.backward(Elementwise.mul(g, slope), m, 1));
                    },
                    base);
        });
    }
}
