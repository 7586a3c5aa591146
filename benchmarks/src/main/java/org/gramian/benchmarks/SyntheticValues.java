package org.gramian.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Branches;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Residual;
import org.gramian.backbone.network.NetworkLayer.TopDown;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.model.Head;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Pseudorandom values and initial parameters that are equal in every language: a hash of the index in 32-bit arithmetic.
 *
 * <p>{@code worker.py} has the same formulas.
 */
final class SyntheticValues {
    private static final long WORD = 0xffffffffL;
    private static final int FIRST_SEED = 10;
    private static final int CONVOLUTION_SEED = 2;
    private static final int CLASSIFIER_SEED = 3;
    private static final int STIEFEL_SEED = 4;

    /** Factor of the last weights of a residual branch: with full branches the maps double at each block and training diverges. */
    private static final double BRANCH = 0.1;

    private SyntheticValues() {}

    /** Returns the value at an index, uniform in [−0.5, 0.5). */
    static double at(long place, int seed) {
        long x = (place + seed * 1_000_003L) * 0x9E3779B1L & WORD;
        x ^= x >>> 15;
        x = x * 0x85EBCA77L & WORD;
        x ^= x >>> 13;
        return x / 4294967296.0 - 0.5;
    }

    /** Returns a float32 tensor uniform in {@code [−range, range)}. */
    static Tensor uniform(Shape shape, int seed, double range, Device device) {
        try (Scope scope = Scope.open()) {
            return scope.keep(uniform(shape, seed, 0, range).to(device));
        }
    }

    /** Returns a float32 tensor on the CPU uniform in {@code [centre − range, centre + range)}. */
    private static Tensor uniform(Shape shape, int seed, double centre, double range) {
        Tensor tensor = Tensors.empty(shape, DType.F32, Device.CPU);
        MemorySegment data = tensor.data();
        for (long i = 0; i < shape.elements(); i++) {
            data.setAtIndex(JAVA_FLOAT, i, (float) (centre + at(i, seed) * 2 * range));
        }
        return tensor;
    }

    /**
     * Returns the first columns of an orthonormal matrix, a reflection with some columns negated: {@code (I − 2vvᵀ)·diag(±1)}.
     *
     * <p>It keeps the elements of the kernel matrix far from 0, half of them negative: near 0 the square root is so steep that
     * the gradient depends on rounding.
     */
    static Tensor orthonormal(Shape shape, int seed) {
        int size = Math.toIntExact(shape.at(0));
        int columns = Math.toIntExact(shape.at(1));
        double[] v = new double[size];
        double squares = 0;
        for (int i = 0; i < size; i++) {
            v[i] = at(i, seed);
            squares += v[i] * v[i];
        }
        double[] values = new double[size * columns];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < columns; j++) {
                double reflected = (i == j ? 1 : 0) - 2 * v[i] * v[j] / squares;
                values[i * columns + j] = at(j, seed + 1) < 0 ? -reflected : reflected;
            }
        }
        return Tensors.of(values, shape, DType.F32);
    }

    /** Returns the Euclidean norm of a tensor, by which sides are compared. */
    static double norm(Tensor tensor) {
        try (Scope _ = Scope.open()) {
            return Math.sqrt(tensor.mul(tensor).sum().item());
        }
    }

    /**
     * Returns the parameters of backbone and head; without a backbone, of a head for a number of channels.
     *
     * <p>Random parameters of a backbone have the seeds 10, 11, … in order. Weights of convolutions and linear layers are
     * uniform in {@code ±√(6/inputs)}, scales of norms in [0.5, 1.5), tokens and position embeddings in ±0.5. The last scale of a
     * residual branch, or its last weights if it has no norm, are multiplied by {@link #BRANCH}. Weights of the convolution of a
     * head have the seed 2; W is the first columns of an orthonormal matrix; the weights of the classifier are uniform in ±0.1.
     * Other parameters keep their default initialization.
     */
    static List<ParameterSpec> parameters(Optional<Backbone> backbone, Optional<Head> head, int channels) {
        List<ParameterSpec> all = new ArrayList<>();
        Set<String> ends = backbone.map(SyntheticValues::branchEnds).orElse(Set.of());
        int seed = FIRST_SEED;
        for (ParameterSpec spec : backbone.map(Backbone::parameters).orElse(List.of())) {
            Optional<Initializer> made = ofBackbone(spec, ends.contains(spec.name()) ? BRANCH : 1, seed);
            all.add(made.map(initial -> with(spec, initial)).orElse(spec));
            seed += made.isPresent() ? 1 : 0;
        }
        long entering = backbone.map(Backbone::channels).orElse((long) channels);
        head.ifPresent(each -> each.parameters(entering).forEach(spec -> all.add(ofHead(spec))));
        return all;
    }

    /** Returns the initializer of a random parameter of a backbone; empty for biases and statistics, which are constant. */
    private static Optional<Initializer> ofBackbone(ParameterSpec spec, double factor, int seed) {
        Shape shape = spec.shape();
        if (spec.role() == Role.WEIGHT && shape.rank() > 1) {
            return Optional.of(he(shape, seed, factor));
        }
        if (spec.role() == Role.BIAS && shape.rank() == 1 && spec.name().endsWith(".weight")) {
            return Optional.of(uniformInitializer(shape, seed, factor, 0.5 * factor));
        }
        return spec.name().matches("(.*\\.)?(cls_token|register_tokens|pos_embed)")
                ? Optional.of(uniformInitializer(shape, seed, 0, 0.5))
                : Optional.empty();
    }

    private static Set<String> branchEnds(Backbone backbone) {
        return backbone.stages(NetworkLayer.class).stream()
                .flatMap(SyntheticValues::branchEnds)
                .collect(Collectors.toSet());
    }

    /** Returns the names of the last weights of all residual branches of a layer. */
    private static Stream<String> branchEnds(NetworkLayer layer) {
        return switch (layer) {
            case Residual residual -> Stream.concat(branchEnds(residual.body()), lastWeight(residual.body()));
            case TopDown topDown -> Stream.concat(branchEnds(topDown.body()), lastWeight(topDown.body()));
            case Chain chain -> chain.stages().stream().flatMap(SyntheticValues::branchEnds);
            case Branches branches -> branches.branches().stream().flatMap(SyntheticValues::branchEnds);
            case VisionTransformer.Block block ->
                Stream.of(block.name() + ".attn.proj.weight", block.name() + ".mlp.fc2.weight");
            default -> Stream.empty();
        };
    }

    private static Stream<String> lastWeight(Chain body) {
        return body
                .convolutions()
                .reduce((_, last) -> last)
                .map(conv -> conv.finish().norm().isEmpty()
                        ? conv.name()
                        : conv.finish().norm())
                .map(name -> name + ".weight")
                .stream();
    }

    private static ParameterSpec ofHead(ParameterSpec spec) {
        Shape shape = spec.shape();
        if (spec.role() == Role.STIEFEL && shape.rank() == 2) {
            return with(spec, (_, _, _) -> orthonormal(shape, STIEFEL_SEED));
        }
        return switch (spec.name()) {
            case "pooling.conv.weight" -> with(spec, he(shape, CONVOLUTION_SEED, 1));
            case Head.CLASSIFIER + ".weight" -> with(spec, uniformInitializer(shape, CLASSIFIER_SEED, 0, 0.1));
            default -> spec;
        };
    }

    private static ParameterSpec with(ParameterSpec spec, Initializer initial) {
        return new ParameterSpec(spec.name(), spec.shape(), spec.role(), initial);
    }

    private static Initializer he(Shape shape, int seed, double factor) {
        double inputs = (double) shape.elements() / shape.at(0);
        return uniformInitializer(shape, seed, 0, factor * Math.sqrt(6 / inputs));
    }

    private static Initializer uniformInitializer(Shape shape, int seed, double centre, double range) {
        return (_, _, type) -> {
            if (type != DType.F32) {
                throw new IllegalArgumentException("expected initial values in float32, found " + type);
            }
            return uniform(shape, seed, centre, range);
        };
    }
}
