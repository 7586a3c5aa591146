package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Transform;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Backward;
import org.gramian.tensor.Tensor;

/**
 * Pooling that ends in the paper's descriptor {@code rbf/spd[/relu]/triu/root/l2}, optionally scaled: one node instead of five,
 * {@link CpuDescriptor} or {@link GpuDescriptor}. Where neither is supported, the plain pooling.
 */
record FusedDescriptor(Pooling plain, Form form, Set<Rule> rules) implements Layer {
    /** Name of W among the parameters of a pooling. */
    private static final String WEIGHT = "spd0.weight";

    /** Normalizations that are part of the node: root and l2. */
    private static final int NORMALIZATIONS = 2;

    /**
     * Form of the descriptor.
     *
     * @param kernel kernel with a width that is constant for the gradient
     * @param relu whether {@code max(Y, 0)} follows the transform
     * @param epsilon ε > 0 of the root {@code v/(√(|v|+ε) + √ε)}
     */
    record Form(Rbf kernel, boolean relu, double epsilon) {
        /** Lower bound of the norm. */
        double smallestNorm() {
            return Normalization.L2.SMALLEST_NORM;
        }
    }

    /** Returns the layer that replaces a pooling, or empty if it does not end in the descriptor or no rule is enabled. */
    static Optional<FusedDescriptor> match(Pooling pooling) {
        List<Normalization> normalizations = pooling.normalizations();
        if (!(pooling.aggregation()
                        instanceof SecondOrder(Rbf kernel, List<Transform> transforms, Vectorization vector))
                || !kernel.hasConstantWidth()
                || kernel.backward() != Backward.EXACT
                || !vector.equals(new Vectorization.Triu())
                || normalizations.size() < NORMALIZATIONS
                || !(normalizations.getFirst() instanceof Normalization.Root(double epsilon, Normalization.Slope slope))
                || epsilon <= 0
                || slope != Normalization.Slope.EXACT
                || !(normalizations.get(1) instanceof Normalization.L2)
                || !normalizations.stream().skip(NORMALIZATIONS).allMatch(Normalization.Scale.class::isInstance)
                || transforms.isEmpty()
                || !(transforms.getFirst() instanceof Transform.Spd)) {
            return Optional.empty();
        }
        boolean relu = transforms.size() == 2 && transforms.getLast() instanceof Transform.Relu;
        Set<Rule> rules = EnumSet.noneOf(Rule.class);
        if (transforms.size() == (relu ? 2 : 1)) {
            EnumSet.of(Rule.CPU_DESCRIPTOR, Rule.GPU_DESCRIPTOR).stream()
                    .filter(rule -> rule.isEnabled() && (relu || rule == Rule.CPU_DESCRIPTOR))
                    .forEach(rules::add);
        }
        return rules.isEmpty()
                ? Optional.empty()
                : Optional.of(new FusedDescriptor(pooling, new Form(kernel, relu, epsilon), rules));
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return plain.parameters(channels);
    }

    @Override
    public Var apply(Var features, Bindings parameters) {
        Var weight = parameters.get(WEIGHT);
        Bindings ofKernel = parameters.under("rbf");
        if (rules.contains(Rule.GPU_DESCRIPTOR) && GpuDescriptor.isSupported(form, features.value(), weight.value())) {
            boolean convolved =
                    plain.reductions().size() == 1 && plain.reductions().getFirst() instanceof Reduction.Conv;
            Bindings conv = plain.stageParameters(parameters, 0);
            Var maps = convolved ? product(features, conv.get("weight")) : plain.reduce(features, parameters);
            return scaled(
                    GpuDescriptor.apply(form, ofKernel, maps, convolved ? conv.get("bias") : null, weight), parameters);
        }
        if (rules.contains(Rule.CPU_DESCRIPTOR) && CpuDescriptor.isSupported(features, weight)) {
            return scaled(CpuDescriptor.apply(form, ofKernel, plain.reduce(features, parameters), weight), parameters);
        }
        return plain.apply(features, parameters);
    }

    private Var scaled(Var vectors, Bindings parameters) {
        Var x = vectors;
        for (int i = NORMALIZATIONS; i < plain.normalizations().size(); i++) {
            x = plain.normalize(i, x, parameters);
        }
        return x;
    }

    /** Computes {@code W f} at each position, without bias and ReLU, which are part of {@link GpuDescriptor}: features {@code [n, c, h, w]} and W {@code [C, c, 1, 1]}; returns {@code [n, C, h·w]}. */
    private static Var product(Var features, Var weight) {
        long channels = weight.shape().at(0);
        long entering = weight.shape().at(1);
        long images = features.shape().at(0);
        Var flat = features.reshape(
                images, entering, features.shape().at(2) * features.shape().at(3));
        return features.tape().apply(List.of(flat, weight), () -> {
            Tensor x = flat.value();
            Tensor w = weight.value().reshape(channels, entering);
            return Result.of(
                    w.matmul(x),
                    (g, wanted) -> list(
                            wanted[0] ? w.transpose().matmul(g) : null,
                            wanted[1] ? weightGradient(g.transpose(0, 1), x) : null),
                    w);
        });
    }

    /**
     * Computes the gradient of the convolution's weight as one product over all positions.
     *
     * @param ofProduct gradient of the product {@code [C, n, N]}; it is not copied if it is contiguous
     * @param x input {@code [n, c, N]}
     */
    private static Tensor weightGradient(Tensor ofProduct, Tensor x) {
        long positions = x.size(0) * x.size(2);
        Tensor left = ofProduct.reshape(ofProduct.size(0), positions);
        Tensor right = x.transpose(0, 1).reshape(x.size(1), positions);
        return left.matmul(right.transpose()).reshape(ofProduct.size(0), x.size(1), 1, 1);
    }
}
