package org.gramian.pooling;

import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.EvenSample;
import org.gramian.tensor.CachedCheck;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/** Fits what a pooling takes from data before training, stage by stage: principal axes, widths, vocabularies. */
public final class Fitting {
    /** Images that axes, widths and vocabularies are fitted to at most: each has hundreds of positions. */
    public static final int USUAL_IMAGES = 500;

    /** The first value of what is fitted: no number. */
    static final ParameterSpec.Initializer UNSET =
            (random, shape, type) -> Tensors.full(Double.NaN, shape, type, Device.CPU);

    /** Images that a stage is applied to at a time: all of them at once would hold everything made on the way. */
    private static final long BATCH = 32;

    private static final CachedCheck FITTED = new CachedCheck(value -> !isUnset(value));

    private Fitting() {}

    /** Whether a pooling has anything to fit. */
    public static boolean isNeeded(Pooling pooling) {
        return images(pooling) > 0;
    }

    /** The texts of the stages that are fitted, as {@code fisher:64}. */
    public static List<String> stages(Pooling pooling) {
        return pooling.stages().stream()
                .filter(stage -> stage.fittedTo() > 0)
                .map(PoolingStage::text)
                .toList();
    }

    /** How many training images it is fitted to at most. */
    public static int images(Pooling pooling) {
        return pooling.stages().stream().mapToInt(PoolingStage::fittedTo).max().orElse(0);
    }

    /**
     * Fits what has no value yet to a sample of training features {@code [n, c, h, w]}: each stage to what the stages before
     * it, once fitted, make of the sample, or of as many images of it, evenly spread, as the stage wants.
     */
    public static void fit(Pooling pooling, Tensor features, ParameterSet parameters, RandomGenerator random) {
        List<PoolingStage> stages = pooling.stages();
        try (Scope _ = Scope.open()) {
            Tensor x = Views.reshape(features, Pooling.mapSizes("fitting", features));
            for (int i = 0; i < stages.size(); i++) {
                PoolingStage stage = stages.get(i);
                if (i == pooling.reductions().size() && pooling.aggregation().isSpatial()) {
                    x = inPlaceOf(x, Views.reshape(x, x.size(0), x.size(1), features.size(2), features.size(3)));
                }
                ParameterSet own = pooling.own(parameters, i);
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

    /** Frees what is not needed any more: of thousands of images there is no room for what every stage makes. */
    private static Tensor inPlaceOf(Tensor former, Tensor next) {
        former.close();
        return next;
    }

    private static Tensor sample(Tensor inputs, int most) {
        long all = inputs.size(0);
        if (all <= most) {
            return inputs;
        }
        long[] places = EvenSample.places(all, most);
        return Views.select(inputs, 0, Tensors.to(Tensors.ofLongs(places, Shape.of(most)), inputs.device()));
    }

    private static Tensor apply(PoolingStage stage, Tensor inputs, ParameterSet own) {
        long all = inputs.size(0);
        Tensor outputs = null;
        for (long start = 0; start < all; start += BATCH) {
            long end = Math.min(all, start + BATCH);
            try (Scope scope = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor made = stage.apply(
                                tape.constant(Views.slice(inputs, 0, start, end)), Bindings.of(own.variables(tape)))
                        .value();
                if (outputs == null) {
                    outputs = scope.keep(Tensors.empty(made.shape().with(0, all), made.type(), made.device()));
                }
                Views.slice(outputs, 0, start, end).copyFrom(made);
            }
        }
        return Objects.requireNonNull(outputs, "no images to fit to");
    }

    /** Any positive values for what would be fitted: enough to see how long a pooling takes. */
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

    /** Fitted parameters begin as NaN. */
    private static boolean isUnset(ParameterSet parameters) {
        return parameters.all().stream().anyMatch(parameter -> isUnset(parameter.value()));
    }

    /** Whether a parameter still waits for being fitted: its first element is no number. */
    public static boolean isUnset(Tensor fitted) {
        try (Scope _ = Scope.open()) {
            return Double.isNaN(Views.slice(Views.reshape(fitted, fitted.shape().elements()), 0, 0, 1)
                    .item());
        }
    }

    /**
     * Looks at each tensor once; and at none that training is moving, for it is another one at every step, and a loss that
     * is no number stops it.
     *
     * @throws IllegalStateException if a parameter of a stage has no value yet
     */
    static void requireFitted(String word, Var parameter) {
        if (!parameter.wantsGradient() && !FITTED.holds(parameter.value())) {
            throw new IllegalStateException(word + " has not been fitted to training features yet");
        }
    }

    /** A copy of the type and on the device of a sample. */
    static Tensor like(Tensor made, Tensor sample) {
        return Tensors.copy(Tensors.to(Tensors.to(made, sample.type()), sample.device()));
    }
}
