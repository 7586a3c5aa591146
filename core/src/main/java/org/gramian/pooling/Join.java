package org.gramian.pooling;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.pooling.PoolingStage.Context;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Several poolings of the same feature maps with concatenated descriptors, {@code v = (v_1, …, v_k)}.
 *
 * <p>Written {@code [A+B]}, such as {@code [bilinear/triu/root/l2+tail/l2]/l2}: each branch is a whole pooling or the
 * name of a method, applied to the maps {@code [n, c, h, w]}. Parameters are {@code join.0.NAME}, {@code join.1.NAME},
 * … Example: FV-FC-CNN, which concatenates fully connected features and Fisher vectors (Cimpoi, Maji, Kokkinos,
 * Vedaldi, "Deep Filter Banks for Texture Recognition, Description, and Segmentation", IJCV 2016).
 *
 * @param branches at least two poolings
 * @since 0.1
 */
public record Join(List<Pooling> branches) implements Aggregation {
    /** Largest nesting depth of joins. */
    static final int DEEPEST = 2;

    static final PoolingStage.Syntax SYNTAX =
            new PoolingStage.Syntax("[", "[A+B+...]", "several poolings, descriptors concatenated");

    public Join {
        branches = List.copyOf(branches);
        if (branches.size() < 2) {
            throw new IllegalArgumentException("expected at least 2 poolings in a join, found " + branches);
        }
    }

    @Override
    public String text() {
        return branches.stream().map(Pooling::text).collect(Collectors.joining("+", "[", "]"));
    }

    @Override
    public String word() {
        return "join";
    }

    @Override
    public boolean isSpatial() {
        return true;
    }

    @Override
    public long outputs(long channels) {
        return branches.stream()
                .mapToLong(branch -> branch.descriptorSize(channels))
                .sum();
    }

    @Override
    public void requireFits(Shape maps) {
        branches.forEach(branch -> branch.requireFits(maps));
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            for (ParameterSpec spec : branches.get(i).parameters(channels)) {
                all.add(spec.under(name(i)));
            }
        }
        return all;
    }

    @Override
    public Map<String, String> pretrained() {
        Map<String, String> all = new LinkedHashMap<>();
        for (int i = 0; i < branches.size(); i++) {
            String branch = name(i);
            branches.get(i).pretrained().forEach((own, networks) -> all.put(branch + "." + own, networks));
        }
        return all;
    }

    @Override
    public Map<String, Long> randomInputs(long channels) {
        Map<String, Long> all = new LinkedHashMap<>();
        for (int i = 0; i < branches.size(); i++) {
            String prefix = name(i) + ".";
            branches.get(i).randomInputs(channels).forEach((name, columns) -> all.put(prefix + name, columns));
        }
        return all;
    }

    /** Returns the prefix of the parameters of a branch. */
    public static String name(int branch) {
        return Integer.toString(branch);
    }

    @Override
    public int fittedTo() {
        return branches.stream().mapToInt(Fitting::images).max().orElse(0);
    }

    @Override
    public void fit(Tensor maps, ParameterSet parameters, RandomGenerator random) {
        for (int i = 0; i < branches.size(); i++) {
            Fitting.fit(branches.get(i), maps, parameters.under(name(i)), random);
        }
    }

    @Override
    public boolean isDifferentiable() {
        return branches.stream().allMatch(Pooling::isDifferentiable);
    }

    @Override
    public Join resolve(Context place) {
        return new Join(branches.stream().map(branch -> branch.resolve(place)).toList());
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return trace(maps, parameters, (_, _) -> {});
    }

    /** Reports the stages of the branches; their names start with the number of the branch. */
    @Override
    public Var trace(Var maps, Bindings parameters, BiConsumer<String, Var> listener) {
        List<Var> parts = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            String branch = "branch " + (i + 1) + ", ";
            parts.add(branches.get(i)
                    .trace(maps, parameters.under(name(i)), (stage, value) -> listener.accept(branch + stage, value)));
        }
        Var joined = Var.concat(parts, 1);
        listener.accept("join of " + branches.size() + " branches", joined);
        return joined;
    }
}
