package org.gramian.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Join;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Kernel;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Checks the gradients of a pooling with respect to features and every trained parameter by central differences.
 *
 * <p>{@code sigma=mean} is a constant of the backward pass by definition: differences are taken with each image's σ held at
 * its value. Stages whose backward formula is not the derivative, such as {@code triu:gradient=printed}, must make every input
 * deviate by exactly the stated factors.
 *
 * @param formulas statements of the backward formulas that are not the derivative
 * @param inputs one per input: {@code features}, {@code conv.weight}, …
 * @since 0.1
 */
public record PoolingCheck(Pooling pooling, List<String> formulas, List<GradientComparison> inputs) {
    /** Tolerance in float64. */
    public static final double TOLERANCE = 1e-6;

    private static final int IMAGES = 2;

    /**
     * Gradient compared with central differences and with the stated formulas of the layers.
     *
     * @param subject an input such as {@code conv.weight}
     * @param error largest deviation from the derivative, relative to the largest magnitude of the gradient
     * @param fromStated largest deviation from the stated formulas; equal to the error if no layer states a deviation
     * @param tolerance largest deviation that passes
     */
    public record GradientComparison(String subject, double error, double fromStated, double tolerance) {
        /** Returns whether the gradient is the stated one. */
        public boolean passed() {
            return fromStated <= tolerance;
        }

        /** Returns whether the gradient is not the derivative. */
        public boolean deviates() {
            return !(error <= tolerance);
        }
    }

    public PoolingCheck {
        formulas = List.copyOf(formulas);
        inputs = List.copyOf(inputs);
    }

    /** Returns the number of elements checked per input: all would take hours. */
    private static int sampleSize(Pooling pooling, Tensor features) {
        return Math.clamp(2_000_000 / pooling.descriptorSize(features.size(1)), 8, 100);
    }

    /** Checks a pooling on small random features whose number of channels and positions differ. */
    public static PoolingCheck of(Pooling pooling, Device device) {
        return of(pooling, device, Integer.MAX_VALUE);
    }

    /**
     * Checks a pooling as {@link #of(Pooling, Device)}, in less time.
     *
     * @param elements number of random elements of each input that are compared, if it has more
     */
    public static PoolingCheck of(Pooling pooling, Device device, int elements) {
        int channels = smallestChannels(pooling);
        int rows = Math.max(3, pooling.aggregation().leastSide());
        SplittableRandom random = new SplittableRandom(11);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(channels, random, DType.F64, device)) {
            Tensor gaussian = Tensors.gaussian(random, Shape.of(IMAGES, channels, rows, channels), DType.F64);
            Tensor features = gaussian.mul(scale(pooling, channels)).to(device);
            Fitting.fit(pooling, features, parameters, random);
            List<String> formulas = deviations(pooling);
            SurrogateFunction exact = new SurrogateFunction(pooling, false, features, parameters);
            SurrogateFunction stated =
                    formulas.isEmpty() ? exact : new SurrogateFunction(pooling, true, features, parameters);
            return new PoolingCheck(pooling, formulas, compare(exact, stated, parameters, elements));
        }
    }

    /**
     * Returns the scale of the features. It makes the distances between feature maps at least a fixed σ: with all K_ij near
     * 1, differences would be rounding errors.
     */
    private static double scale(Pooling pooling, int channels) {
        return pooling.aggregation() instanceof SecondOrder second
                        && second.kernel() instanceof Rbf rbf
                        && rbf.sigma() instanceof Sigma.Fixed fixed
                ? Math.max(1, fixed.value() / Math.sqrt(6.0 * channels))
                : 1;
    }

    /** Returns the smallest number of channels, at least 5, that fits every stage. */
    private static int smallestChannels(Pooling pooling) {
        String last = "";
        for (int channels = 5; channels <= 4096; channels++) {
            try {
                pooling.descriptorSize(channels);
                return channels;
            } catch (IllegalArgumentException tooFew) {
                last = tooFew.getMessage();
            }
        }
        throw new IllegalArgumentException("no number of channels up to 4096 fits " + pooling + ": " + last);
    }

    /**
     * Compares the backward pass of a pooling with central differences of two functions.
     *
     * @param stated the function whose derivative the backward pass is stated to be; {@code exact} without a deviation
     */
    static List<GradientComparison> compare(
            SurrogateFunction exact, SurrogateFunction stated, ParameterSet parameters, int elements) {
        List<String> names = new ArrayList<>(List.of("features"));
        List<Tensor> inputs = new ArrayList<>(List.of(exact.features));
        Map<String, Tensor> fixed = new LinkedHashMap<>();
        for (Parameter parameter : parameters.all()) {
            if (parameter.spec().role() == Role.FITTED) {
                fixed.put(parameter.name(), parameter.value());
            } else {
                names.add(parameter.name());
                inputs.add(parameter.value());
            }
        }
        GradientCheck check = GradientCheck.of(x -> exact.pooling.apply(x.getFirst(), bind(x, names, fixed)))
                .withAtMost(Math.min(elements, sampleSize(exact.pooling, exact.features)));
        Tensor[] point = inputs.toArray(Tensor[]::new);
        GradientCheck.Report ofExact = check.withReference(x -> exact.apply(x.getFirst(), bind(x, names, fixed)))
                .check(point);
        GradientCheck.Report ofStated = stated == exact
                ? ofExact
                : check.withReference(x -> stated.apply(x.getFirst(), bind(x, names, fixed)))
                        .check(point);
        List<GradientComparison> comparisons = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            comparisons.add(new GradientComparison(
                    names.get(i),
                    ofExact.deviations().get(i).error(),
                    ofStated.deviations().get(i).error(),
                    TOLERANCE));
        }
        return comparisons;
    }

    private static Bindings bind(List<Var> inputs, List<String> names, Map<String, Tensor> fixed) {
        Map<String, Var> variables = new LinkedHashMap<>();
        fixed.forEach(
                (name, value) -> variables.put(name, inputs.getFirst().tape().constant(value)));
        for (int i = 1; i < names.size(); i++) {
            variables.put(names.get(i), inputs.get(i));
        }
        return Bindings.of(variables);
    }

    /** Returns whether every gradient is the stated one. */
    public boolean passed() {
        return inputs.stream().allMatch(GradientComparison::passed);
    }

    /** States the stages of a pooling whose backward pass is not their derivative, one sentence each. */
    private static List<String> deviations(Pooling pooling) {
        List<String> all = new ArrayList<>();
        if (pooling.aggregation() instanceof SecondOrder second) {
            for (Kernel kernel : second.kernel().factors()) {
                if (kernel instanceof Rbf rbf && rbf.backward() == Backward.PRINTED) {
                    all.add("rbf: the gradient is 4(rowsum(G)M - GM), as printed in the paper, where it should be"
                            + " 2(rowsum(T)M - TM), T = G + G^T: equal only for a symmetric upstream gradient");
                }
            }
            if (second.vectorization() instanceof Vectorization.Triu triu && triu.backward() == Backward.PRINTED) {
                all.add("triu: the off-diagonal gradient is 2 x the true one, as printed in the paper");
            }
        }
        if (pooling.aggregation() instanceof Join join) {
            join.branches().forEach(branch -> all.addAll(deviations(branch)));
        }
        for (Normalization normalization : pooling.normalizations()) {
            if (normalization instanceof Normalization.Root root && root.slope() == Normalization.Slope.AUTHORS) {
                String factor = root.epsilon() == 0 ? "|y|/(|y|+0.03)" : "sqrt(|v|+eps)/(|y|+0.03)";
                all.add("root: the gradient is " + factor
                        + " x the true one, y the root of v, as in the authors' code");
            }
        }
        return all;
    }

    /**
     * Function whose derivative at one point equals the backward pass of a pooling, where that is not the derivative of the
     * pooling.
     *
     * <p>Constants of the backward pass ({@code sigma=mean}) are held at their value at the point. A formula that deviates
     * from the derivative by a factor is the derivative of a layer that is scaled by that factor around the point; those layers
     * are written from the statement of the deviation. Central differences of this function thus verify the stated deviation
     * without code of a backward pass.
     */
    static final class SurrogateFunction {
        private final Pooling pooling;
        private final Tensor features;
        private final boolean formulas;
        private final Tensor maps;
        private final List<Double> widths;
        private final Tensor aggregated;
        private final List<Tensor> entering = new ArrayList<>();
        private final List<SurrogateFunction> branches = new ArrayList<>();

        /**
         * Stores the point in the open scope.
         *
         * @param formulas whether to follow deviating formulas; otherwise the derivative
         */
        SurrogateFunction(Pooling pooling, boolean formulas, Tensor features, ParameterSet parameters) {
            this.pooling = pooling;
            this.features = features;
            this.formulas = formulas;
            try (Tape tape = Tape.inference()) {
                Bindings bindings = Bindings.of(parameters.variables(tape));
                Var reduced = pooling.reduce(tape.constant(features), bindings);
                maps = reduced.value().copy();
                widths = meanWidths(pooling, maps);
                Var vectors = pooling.aggregate(reduced, bindings);
                aggregated = vectors.value().copy();
                for (int i = 0; i < pooling.normalizations().size(); i++) {
                    entering.add(vectors.value().copy());
                    vectors = pooling.normalize(i, vectors, bindings);
                }
            }
            if (pooling.aggregation() instanceof Join join) {
                for (int i = 0; i < join.branches().size(); i++) {
                    ParameterSet own = parameters.under(join.word()).under(Join.name(i));
                    branches.add(new SurrogateFunction(join.branches().get(i), formulas, maps, own));
                }
            }
        }

        private static List<Double> meanWidths(Pooling pooling, Tensor maps) {
            List<Double> widths = new ArrayList<>();
            if (pooling.aggregation() instanceof SecondOrder second
                    && second.kernel().factors().stream().anyMatch(SurrogateFunction::hasMeanWidth)) {
                for (long i = 0; i < maps.size(0); i++) {
                    widths.add(Rbf.meanDistance(maps.slice(0, i, i + 1)));
                }
            }
            return widths;
        }

        private static boolean hasMeanWidth(Kernel kernel) {
            return kernel instanceof Rbf rbf && rbf.sigma() instanceof Sigma.Mean;
        }

        /** Returns descriptors {@code [n, d]} of features {@code [n, c, h, w]}, equal to those of the pooling at the point. */
        Var apply(Var features, Bindings parameters) {
            Var reduced = pooling.reduce(features, parameters);
            Var x = switch (pooling.aggregation()) {
                case SecondOrder second -> aggregate(second, reduced, parameters);
                case Join join -> join(reduced, parameters.under(join.word()));
                default -> pooling.aggregate(reduced, parameters);
            };
            for (int i = 0; i < entering.size(); i++) {
                x = formulas && pooling.normalizations().get(i) instanceof Normalization.Root root
                        ? statedRoot(root, x, entering.get(i))
                        : pooling.normalize(i, x, parameters);
            }
            return x;
        }

        private Var join(Var reduced, Bindings parameters) {
            List<Var> parts = new ArrayList<>();
            for (int i = 0; i < branches.size(); i++) {
                parts.add(branches.get(i).apply(reduced, parameters.under(Join.name(i))));
            }
            return Var.concat(parts, 1);
        }

        private Var aggregate(SecondOrder second, Var reduced, Bindings parameters) {
            Var matrices = second.transform(kernel(second.kernel(), reduced, second.ofKernel(parameters)), parameters);
            if (!(second.vectorization() instanceof Vectorization.Triu triu)) {
                return second.vectorize(matrices, parameters);
            }
            // triu reads one triangle: its argument counts as symmetric, as on the tape
            Var vectors = second.vectorize(symmetric(matrices), parameters);
            return formulas && triu.backward() == Backward.PRINTED ? statedUpperTriangle(vectors, aggregated) : vectors;
        }

        private static Var symmetric(Var matrices) {
            return matrices.add(matrices.transpose(1, 2)).mul(0.5);
        }

        private Var kernel(Kernel kernel, Var reduced, Bindings own) {
            if (kernel instanceof KernelSum sum) {
                return sum.combined((factor, name) -> kernel(factor, reduced, own.under(name)));
            }
            if (!(kernel instanceof Rbf rbf)) {
                return kernel.apply(reduced, own);
            }
            List<Var> matrices = new ArrayList<>();
            for (int i = 0; i < maps.size(0); i++) {
                Var image = reduced.slice(0, i, i + 1);
                Rbf held =
                        hasMeanWidth(rbf) ? new Rbf(new Sigma.Fixed(widths.get(i)), rbf.jitter(), rbf.backward()) : rbf;
                matrices.add(
                        formulas ? statedKernel(held, image, maps.slice(0, i, i + 1), own) : held.apply(image, own));
            }
            return Var.concat(matrices, 0);
        }

        /** Returns {@code held + factor∘(x − held)}. */
        private static Var moved(Var x, Tensor held, Tensor factor) {
            Var point = x.tape().constant(held);
            return point.add(x.tape().constant(factor).mul(x.sub(point)));
        }

        /** Returns vectors whose derivative is the paper's: twice the derivative off the diagonal, once on it. */
        private static Var statedUpperTriangle(Var vectors, Tensor held) {
            int length = (int) held.size(1);
            double[] factors = new double[length];
            int size = (int) Math.round((Math.sqrt(8.0 * length + 1) - 1) / 2);
            int k = 0;
            for (int i = 0; i < size; i++) {
                for (int j = i; j < size; j++, k++) {
                    factors[k] = i == j ? 1 : 2;
                }
            }
            Tensor factor = Tensors.of(factors, held.shape().with(0, 1), DType.F64);
            return moved(vectors, held, factor.to(held.device()));
        }

        /** Returns roots whose derivative is the authors': {@code √(|v|+ε)/(|y|+0.03)} times the derivative, {@code |y|/(|y|+0.03)} for ε = 0. */
        private static Var statedRoot(Normalization.Root root, Var vectors, Tensor held) {
            Bindings none = Bindings.of(Map.of());
            Normalization.Root exact = new Normalization.Root(root.epsilon());
            Var y = exact.apply(vectors, none);
            if (root.slope() == Normalization.Slope.EXACT) {
                return y;
            }
            Tensor y0 = exact.apply(vectors.tape().constant(held), none).value();
            Tensor inverseSlope = held.abs().add(root.epsilon()).sqrt();
            Tensor factor = inverseSlope.div(y0.abs().add(Normalization.Slope.AUTHORS_MARGIN));
            return moved(y, y0, factor);
        }

        /**
         * Returns a kernel whose derivative is the paper's, {@code 4 Σ_j G_ij (f_i − f_j)}: in each {@code K_ij} only the first map
         * moves, twice as fast, {@code D'_ij = 2‖f_i − f°_j‖² − ‖f°_i − f°_j‖²}, f° at the point.
         *
         * @param image maps {@code [1, C, N]}
         * @param held the maps at the point
         */
        private static Var statedKernel(Rbf rbf, Var image, Tensor held, Bindings parameters) {
            if (rbf.backward() == Backward.EXACT) {
                return rbf.apply(image, parameters);
            }
            Var fixed = image.tape().constant(held);
            Var distances = distances(image, fixed).mul(2).sub(distances(fixed, fixed));
            double sigma = width(rbf.sigma(), image.value(), parameters);
            Var k = distances.mul(-0.5 / (sigma * sigma)).exp();
            Tensor identity = Tensors.identity(held.size(1), DType.F64, held.device());
            return k.add(image.tape().constant(identity.mul(rbf.jitter())));
        }

        /** Returns {@code ‖a_i − b_j‖²}. */
        private static Var distances(Var a, Var b) {
            Var products = a.matmul(b.transpose(1, 2));
            Tensor ofA = a.value().mul(a.value()).sum(2);
            Tensor ofB = b.value().mul(b.value()).sum(2).transpose();
            return a.tape().constant(ofA.add(ofB)).sub(products.mul(2));
        }

        private static double width(Sigma sigma, Tensor image, Bindings parameters) {
            return switch (sigma) {
                case Sigma.Fixed fixed -> fixed.value();
                case Sigma.Mean _, Sigma.MeanFull _ -> Rbf.meanDistance(image);
                case Sigma.Estimate _ -> parameters.get("sigma").value().item();
                case Sigma.Learned _ ->
                    Math.exp(parameters.get("logSigma").value().item());
            };
        }
    }
}
