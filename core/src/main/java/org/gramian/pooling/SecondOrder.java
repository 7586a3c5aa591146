package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Gaussian;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Second-order pooling of the paper: a kernel matrix over the channels, transformed on the SPD manifold and vectorized.
 *
 * <p>Shapes: {@code [n, C, N]} → kernel {@code [n, C, C]} → transforms {@code [n, C', C']} → vectorization {@code [n,
 * d]}. The parameters of kernel and vectorization are named by their words, those of the k-th transform of a word by
 * the word and k, such as {@code spd0} and {@code o2t1}.
 *
 * @param kernel kernel between channels
 * @param transforms transforms of the matrix, in order
 * @param vectorization vectorization of the matrix
 * @since 0.1
 */
public record SecondOrder(Kernel kernel, List<Transform> transforms, Vectorization vectorization)
        implements Aggregation {
    public SecondOrder {
        transforms = List.copyOf(transforms);
    }

    @Override
    public String text() {
        return Stream.of(
                        Stream.of(KernelText.of(kernel)),
                        transforms.stream().map(PoolingStage::text),
                        Stream.of(vectorization.text()))
                .flatMap(s -> s)
                .collect(Collectors.joining("/"));
    }

    @Override
    public long outputs(long channels) {
        return vectorization.outputs(sizeBefore(transforms.size(), channels));
    }

    @Override
    public int fittedTo() {
        int ofTransforms =
                transforms.stream().mapToInt(PoolingStage::fittedTo).max().orElse(0);
        boolean estimated = kernel.factors().stream().anyMatch(SecondOrder::isEstimated);
        return estimated ? Math.max(Fitting.DEFAULT_IMAGES, ofTransforms) : ofTransforms;
    }

    private static boolean isEstimated(Kernel kernel) {
        return kernel instanceof Rbf rbf && rbf.sigma() instanceof Sigma.Estimate;
    }

    /** Fits the width of {@code sigma=estimate}, the mean distance between maps, and then the transforms in order. */
    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        for (Parameter parameter : parameters.under(kernelPrefix()).all()) {
            if (parameter.spec().role() == Role.FITTED) {
                double[] width = {Rbf.meanDistance(maps)};
                parameter.set(Fitting.like(Tensors.of(width, Shape.of(1), maps.type()), maps));
            }
        }
        int left = (int) transforms.stream().filter(t -> t.fittedTo() > 0).count();
        Tensor x = left == 0 ? maps : Fitting.apply(kernel, maps, parameters.under(kernelPrefix()));
        for (int i = 0; left > 0; i++) {
            Transform transform = transforms.get(i);
            if (transform.fittedTo() > 0) {
                transform.fit(Fitting.sample(x, transform.fittedTo()), parameters.under(transformPrefix(i)), random);
                left--;
            }
            x = left == 0 ? x : Fitting.apply(transform, x, parameters.under(transformPrefix(i)));
        }
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        kernel.parameters(channels).forEach(spec -> all.add(spec.under(kernelPrefix())));
        long size = kernel.size(channels);
        for (int i = 0; i < transforms.size(); i++) {
            for (ParameterSpec spec : transforms.get(i).parameters(size)) {
                all.add(spec.under(transformPrefix(i)));
            }
            size = transforms.get(i).outputs(size);
        }
        for (ParameterSpec spec : vectorization.parameters(size)) {
            all.add(spec.under(vectorization.word()));
        }
        return all;
    }

    /** Returns the prefix of the kernel's parameters. */
    public String kernelPrefix() {
        return KernelText.word(kernel);
    }

    /** Returns the variables of the kernel. */
    public Bindings ofKernel(Bindings parameters) {
        return parameters.under(kernelPrefix());
    }

    /**
     * Returns the prefix of a transform's parameters: its word and the number of earlier ones with that word.
     *
     * @param index index in {@link #transforms}
     */
    public String transformPrefix(int index) {
        String word = transforms.get(index).word();
        return word
                + transforms.subList(0, index).stream()
                        .filter(before -> before.word().equals(word))
                        .count();
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return trace(maps, parameters, (_, _) -> {});
    }

    /** Applies the kernel: {@code [n, C, N]} to {@code [n, C, C]}. */
    public Var matrices(Var maps, Bindings parameters) {
        return kernel.apply(maps, ofKernel(parameters));
    }

    /** Applies the transforms: {@code [n, C, C]} to {@code [n, C', C']}. */
    public Var transform(Var matrices, Bindings parameters) {
        return transform(matrices, parameters, (_, _) -> {});
    }

    /** Applies the vectorization: {@code [n, C', C']} to {@code [n, d]}. */
    public Var vectorize(Var matrices, Bindings parameters) {
        return vectorization.apply(matrices, parameters.under(vectorization.word()));
    }

    /** Reports the values of kernel, transforms and vectorization. */
    @Override
    public Var trace(Var maps, Bindings parameters, BiConsumer<String, Var> listener) {
        Var matrices = matrices(maps, parameters);
        listener.accept("kernel " + KernelText.of(kernel), matrices);
        Var transformed = transform(matrices, parameters, listener);
        return vectorization.trace(transformed, parameters.under(vectorization.word()), listener);
    }

    private Var transform(Var kernelMatrices, Bindings parameters, BiConsumer<String, Var> listener) {
        Var matrices = kernelMatrices;
        for (int i = 0; i < transforms.size(); i++) {
            matrices = transforms.get(i).apply(matrices, parameters.under(transformPrefix(i)));
            listener.accept("transform " + (i + 1) + ", " + transforms.get(i).text(), matrices);
        }
        return matrices;
    }

    /**
     * Returns the square W that only rotate: functions of eigenvalues commute with them, and another product or the classifier absorbs
     * them unless an element-wise function comes before.
     *
     * @param rooted whether a root follows the vectorization
     */
    List<Transform> rotations(long channels, boolean rooted) {
        List<Transform> found = new ArrayList<>();
        boolean absorbed = !rooted;
        for (int i = transforms.size() - 1; i >= 0; i--) {
            Transform transform = transforms.get(i);
            if (transform instanceof Transform.Relu) {
                absorbed = false;
            } else if (transform instanceof Transform.Spd || transform instanceof Transform.Free) {
                if (absorbed && transform instanceof Transform.Spd spd && spd.size() == sizeBefore(i, channels)) {
                    found.addFirst(transform);
                }
                absorbed = true;
            }
        }
        return found;
    }

    private long sizeBefore(int transform, long channels) {
        long size = kernel.size(channels);
        for (Transform before : transforms.subList(0, transform)) {
            size = before.outputs(size);
        }
        return size;
    }

    /** Text form of kernels, such as {@code rbf:sigma=mean-full}; default arguments are omitted. */
    private static final class KernelText {
        /** Returns the first word of the text, the prefix of the kernel's parameters. */
        static String word(Kernel kernel) {
            return switch (kernel) {
                case Rbf k -> "rbf";
                case Laplacian k -> "laplacian";
                case Polynomial k -> "polynomial";
                case Covariance k -> "covariance";
                case Bilinear k -> "bilinear";
                case Gaussian k -> "gaussian";
                case Democratic k -> "democratic";
                case KernelSum k -> "kernel";
            };
        }

        static String of(Kernel kernel) {
            if (kernel instanceof KernelSum sum) {
                return sum.terms().stream().map(KernelText::of).collect(Collectors.joining("+", "(", ")"));
            }
            List<String> arguments = new ArrayList<>();
            switch (kernel) {
                case Rbf rbf when !(rbf.sigma() instanceof Sigma.Mean) -> arguments.add("sigma=" + sigma(rbf.sigma()));
                case Laplacian laplacian -> arguments.add("sigma=" + StageRegistry.number(laplacian.sigma()));
                case Polynomial polynomial -> {
                    arguments.add("degree=" + polynomial.degree());
                    arguments.add("scale=" + StageRegistry.number(polynomial.scale()));
                    arguments.add("offset=" + StageRegistry.number(polynomial.offset()));
                }
                case Covariance covariance
                when covariance.shrinkage() > 0 ->
                    arguments.add("shrinkage=" + StageRegistry.number(covariance.shrinkage()));
                case Democratic democratic -> {
                    if (democratic.gamma() != Democratic.DEFAULT_GAMMA) {
                        arguments.add("gamma=" + StageRegistry.number(democratic.gamma()));
                    }
                    if (democratic.iterations() != Democratic.DEFAULT_ITERATIONS) {
                        arguments.add("iterations=" + democratic.iterations());
                    }
                }
                default -> {}
            }
            if (kernel.jitter() != StageRegistry.defaultJitter(word(kernel))) {
                arguments.add("jitter=" + StageRegistry.number(kernel.jitter()));
            }
            if (kernel instanceof Rbf rbf && rbf.backward() != Backward.EXACT) {
                arguments.add("gradient=" + EnumWords.text(rbf.backward()));
            }
            return arguments.isEmpty() ? word(kernel) : word(kernel) + ":" + String.join(",", arguments);
        }

        private static String of(KernelSum.Term term) {
            String product = term.factors().stream().map(KernelText::of).collect(Collectors.joining("*"));
            return term.weight() == 1 ? product : StageRegistry.number(term.weight()) + "*" + product;
        }

        private static String sigma(Sigma sigma) {
            return switch (sigma) {
                case Sigma.Mean s -> "mean";
                case Sigma.MeanFull s -> "mean-full";
                case Sigma.Estimate s -> "estimate";
                case Sigma.Learned s -> "learned";
                case Sigma.Fixed fixed -> StageRegistry.number(fixed.value());
            };
        }
    }
}
