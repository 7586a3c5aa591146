package org.gramian.spd;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;

/**
 * Weighted sum of element-wise products of kernels, {@code K_ij = Σ_t w_t Π_k K_tk,ij}, such as {@code (rbf +
 * 0.5·bilinear·laplacian)}.
 *
 * <p>With positive weights K is positive semidefinite as its kernels are: products by Schur's theorem (Shawe-Taylor,
 * Cristianini, "Kernel Methods for Pattern Analysis", 2004, Proposition 3.22). Each kernel has its own jitter. The
 * parameters of the k-th kernel, from 0 over all terms, are named by k.
 *
 * @param terms at least one
 * @since 0.1
 */
public record KernelSum(List<Term> terms) implements Kernel {
    /**
     * Weighted product.
     *
     * @param weight w, positive
     * @param factors at least one kernel, none of them a sum
     */
    public record Term(double weight, List<Kernel> factors) {
        public Term {
            factors = List.copyOf(factors);
            if (!(weight > 0) || Double.isInfinite(weight)) {
                throw new IllegalArgumentException("expected a positive weight of a kernel, found " + weight);
            }
            if (factors.isEmpty() || factors.stream().anyMatch(KernelSum.class::isInstance)) {
                throw new IllegalArgumentException("expected a product of kernels, found " + factors);
            }
        }
    }

    public KernelSum {
        terms = List.copyOf(terms);
        if (terms.isEmpty()) {
            throw new IllegalArgumentException("expected at least one kernel in a sum, found none");
        }
        List<Long> sizes = terms.stream()
                .flatMap(term -> term.factors().stream())
                .map(kernel -> kernel.size(1))
                .distinct()
                .toList();
        if (sizes.size() > 1) {
            throw new IllegalArgumentException(
                    "expected kernels with matrices of the same size, found gaussian, which has one more row, and"
                            + " another kernel");
        }
    }

    @Override
    public double jitter() {
        return 0;
    }

    @Override
    public long size(long channels) {
        return factors().getFirst().size(channels);
    }

    @Override
    public List<Kernel> factors() {
        return terms.stream().flatMap(term -> term.factors().stream()).toList();
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        List<Kernel> factors = factors();
        for (int i = 0; i < factors.size(); i++) {
            for (ParameterSpec spec : factors.get(i).parameters(channels)) {
                all.add(spec.under(Integer.toString(i)));
            }
        }
        return all;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return combined((kernel, name) -> kernel.apply(maps, parameters.under(name)));
    }

    /**
     * Combines the matrices of the kernels.
     *
     * @param matrices computes the matrices of a kernel, given the prefix of its parameters
     */
    public Var combined(BiFunction<Kernel, String, Var> matrices) {
        return combined(matrices, Var::add, Var::mul, Var::mul);
    }

    /** Combines values of the kernels of any type. */
    public <T> T combined(
            BiFunction<Kernel, String, T> value,
            BinaryOperator<T> plus,
            BinaryOperator<T> times,
            BiFunction<T, Double, T> scaled) {
        int index = 0;
        List<T> sums = new ArrayList<>();
        for (Term term : terms) {
            List<T> values = new ArrayList<>();
            for (Kernel factor : term.factors()) {
                values.add(value.apply(factor, Integer.toString(index++)));
            }
            T product = values.stream().reduce(times).orElseThrow();
            sums.add(term.weight() == 1 ? product : scaled.apply(product, term.weight()));
        }
        return sums.stream().reduce(plus).orElseThrow();
    }

    /** Returns this sum with other kernels in place of its own. */
    public KernelSum with(UnaryOperator<Kernel> other) {
        return new KernelSum(terms.stream()
                .map(term -> new Term(
                        term.weight(), term.factors().stream().map(other).toList()))
                .toList());
    }
}
