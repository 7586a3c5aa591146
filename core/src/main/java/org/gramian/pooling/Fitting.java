package org.gramian.pooling;

import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.CachedCheck;
import org.gramian.basis.Subsample;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Fits principal axes, kernel widths and codebooks of a pooling to features before training.
 *
 * @since 0.1
 */
public final class Fitting {
    /** Default number of images; each has hundreds of positions. */
    public static final int DEFAULT_IMAGES = 500;

    /** Initial value of fitted parameters. */
    static final Initializer UNSET = Initializer.constant(Double.NaN);

    /** Batch size for applying a fitted stage, to limit memory. */
    private static final long BATCH = 32;

    private static final CachedCheck FITTED = new CachedCheck(value -> !isUnset(value));

    private Fitting() {}

    /** Returns whether a pooling has fitted parameters. */
    public static boolean isNeeded(Pooling pooling) {
        return images(pooling) > 0;
    }

    /** Returns the texts of the fitted stages, such as {@code fisher:64}. */
    public static List<String> stages(Pooling pooling) {
        return pooling.stages().stream()
                .filter(stage -> stage.fittedTo() > 0)
                .map(PoolingStage::text)
                .toList();
    }

    /** Returns the largest number of training images that a pooling is fitted to. */
    public static int images(Pooling pooling) {
        return pooling.stages().stream().mapToInt(PoolingStage::fittedTo).max().orElse(0);
    }

    /**
     * Fits all parameters that are still NaN, stage by stage: each stage to the output of the stages before it.
     *
     * @param features features of training images {@code [n, c, h, w]}; a stage that needs fewer images uses an even
     *     sample
     */
    public static void fit(Pooling pooling, Tensor features, ParameterSet parameters, RandomGenerator random) {
        List<PoolingStage> stages = pooling.stages();
        try (Scope _ = Scope.open()) {
            Tensor x = features.reshape(Pooling.mapSizes("fitting", features));
            for (int i = 0; i < stages.size(); i++) {
                PoolingStage stage = stages.get(i);
                if (i == pooling.reductions().size() && pooling.aggregation().isSpatial()) {
                    x = inPlaceOf(x, x.reshape(x.size(0), x.size(1), features.size(2), features.size(3)));
                }
                ParameterSet own = pooling.stageParameters(parameters, i);
                if (stage.fittedTo() > 0 && isUnset(own)) {
                    try (Scope _ = Scope.open()) {
                        stage.fit(sample(x, stage.fittedTo()), own, random);
                    }
                }
                if (stages.subList(i + 1, stages.size()).stream().anyMatch(later -> later.fittedTo() > 0)) {
                    x = inPlaceOf(x, apply(stage, x, own));
                }
            }
        }
    }

    /** Frees a value and returns the next one: there is no memory for the outputs of all stages. */
    private static Tensor inPlaceOf(Tensor former, Tensor next) {
        former.close();
        return next;
    }

    static Tensor sample(Tensor inputs, int most) {
        long all = inputs.size(0);
        if (all <= most) {
            return inputs;
        }
        long[] places = Subsample.evenIndices(all, most);
        return inputs.select(0, Tensors.ofLongs(places, Shape.of(most)).to(inputs.device()));
    }

    /** Applies a stage, a few images at a time. */
    static Tensor apply(Layer stage, Tensor inputs, ParameterSet own) {
        long all = inputs.size(0);
        Tensor outputs = null;
        for (long start = 0; start < all; start += BATCH) {
            long end = Math.min(all, start + BATCH);
            try (Scope scope = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor made = stage.apply(tape.constant(inputs.slice(0, start, end)), Bindings.of(own.variables(tape)))
                        .value();
                if (outputs == null) {
                    outputs = scope.keep(Tensors.empty(made.shape().with(0, all), made.type(), made.device()));
                }
                outputs.slice(0, start, end).copyFrom(made);
            }
        }
        return Objects.requireNonNull(outputs, "no images to fit to");
    }

    /** Sets parameters that are still NaN to random positive values, for benchmarks. */
    public static void pretend(ParameterSet parameters, RandomGenerator random) {
        for (Parameter parameter : parameters.all()) {
            if (isUnset(parameter.value())) {
                try (Scope _ = Scope.open()) {
                    Tensor former = parameter.value();
                    parameter.set(like(Tensors.uniform(random, 0.5, 1.5, former.shape(), former.type()), former));
                }
            }
        }
    }

    /** Returns whether any parameter is still NaN. */
    private static boolean isUnset(ParameterSet parameters) {
        return parameters.all().stream().anyMatch(parameter -> isUnset(parameter.value()));
    }

    /** Returns whether a fitted parameter is still NaN, by its first element. */
    public static boolean isUnset(Tensor fitted) {
        try (Scope _ = Scope.open()) {
            return Double.isNaN(
                    fitted.reshape(fitted.shape().elements()).slice(0, 0, 1).item());
        }
    }

    /**
     * Checks that a parameter has been fitted, once per tensor. Trained parameters are not checked: a loss of NaN stops
     * training anyway.
     *
     * @throws IllegalStateException if it is still NaN
     */
    static void requireFitted(String word, Var parameter) {
        if (!parameter.wantsGradient() && !FITTED.holds(parameter.value())) {
            throw new IllegalStateException(word + " has not been fitted to training features yet");
        }
    }

    /** Returns a copy with the type and device of a sample. */
    static Tensor like(Tensor made, Tensor sample) {
        return made.to(sample.type()).to(sample.device()).copy();
    }
}
