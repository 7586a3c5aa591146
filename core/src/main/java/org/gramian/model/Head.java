package org.gramian.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Shape;

/**
 * Pooling and linear classifier on a backbone: features {@code [n, c, h, w]} to descriptors {@code [n, d]} to scores
 * {@code [n, k]}.
 *
 * <p>Scores are {@code z = v·Wᵀ + b}, optionally batch-normalized, as in the authors' code but not in the paper.
 * Parameters: those of the pooling under {@code pooling}, {@code classifier.weight [k, d]} and {@code classifier.bias
 * [k]}, and {@code norm.weight}, {@code norm.bias}, {@code norm.running_mean}, {@code norm.running_var}, each {@code
 * [k]}.
 *
 * @param pooling features to descriptor
 * @param classes number of classes k
 * @param normalized whether scores are batch-normalized
 * @since 0.1
 */
public record Head(Pooling pooling, int classes, boolean normalized) {
    /** Prefix of the pooling's parameters. */
    public static final String POOLING = "pooling";

    /** Prefix of the classifier's parameters. */
    public static final String CLASSIFIER = "classifier";

    /** Standard deviation of the initial weights; small, so that training starts from nearly equal scores. */
    private static final double SPREAD = 0.01;

    /** Mode of batch normalization: statistics of the batch, or running statistics. */
    public enum Mode {
        TRAINING,
        PREDICTING
    }

    public Head {
        if (classes < 2) {
            throw new IllegalArgumentException("expected a classifier of at least 2 classes, found " + classes);
        }
    }

    /** Returns all parameters for a number of feature channels. */
    public List<ParameterSpec> parameters(long channels) {
        List<ParameterSpec> all = new ArrayList<>();
        pooling.parameters(channels).forEach(spec -> all.add(spec.under(POOLING)));
        Shape weight = Shape.of(classes, pooling.descriptorSize(channels));
        Shape one = Shape.of(classes);
        all.add(new ParameterSpec(CLASSIFIER + ".weight", weight, Role.WEIGHT, Initializer.gaussian(SPREAD)));
        all.add(constant(CLASSIFIER + ".bias", one, Role.BIAS, 0));
        if (normalized) {
            all.add(constant("norm.weight", one, Role.BIAS, 1));
            all.add(constant("norm.bias", one, Role.BIAS, 0));
            all.add(constant("norm.running_mean", one, Role.FITTED, 0));
            all.add(constant("norm.running_var", one, Role.FITTED, 1));
        }
        return all;
    }

    /**
     * Returns the parameters that are initialized from the backbone's weights, own name to name in the network, see
     * {@link Pooling#pretrained}.
     */
    public Map<String, String> pretrained() {
        Map<String, String> all = new LinkedHashMap<>();
        pooling.pretrained().forEach((own, networks) -> all.put(POOLING + "." + own, networks));
        return all;
    }

    private static ParameterSpec constant(String name, Shape shape, Role role, double value) {
        return new ParameterSpec(name, shape, role, Initializer.constant(value));
    }

    /** Computes descriptors {@code [n, d]} of features {@code [n, c, h, w]}. */
    public Var describe(Var features, Bindings parameters) {
        return pooling.apply(features, parameters.under(POOLING));
    }

    /** Computes scores {@code [n, k]} of descriptors {@code [n, d]}. */
    public Var classify(Var descriptors, Bindings parameters, Mode mode) {
        Bindings linear = parameters.under(CLASSIFIER);
        Var scores = descriptors.linear(linear.get("weight"), linear.get("bias"));
        if (!normalized) {
            return scores;
        }
        Bindings norm = parameters.under("norm");
        BatchNorm.Statistics statistics = new BatchNorm.Statistics(
                norm.get("running_mean").value(), norm.get("running_var").value());
        return mode == Mode.TRAINING
                ? BatchNorm.STANDARD.train(scores, norm.get("weight"), norm.get("bias"), statistics)
                : BatchNorm.STANDARD.predict(scores, norm.get("weight"), norm.get("bias"), statistics);
    }

    /** Computes scores {@code [n, k]} of features {@code [n, c, h, w]}. */
    public Var apply(Var features, Bindings parameters, Mode mode) {
        return classify(describe(features, parameters), parameters, mode);
    }
}
