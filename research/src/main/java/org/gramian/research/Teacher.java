package org.gramian.research;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * A frozen backbone that a student learns from: the feature maps of one or several layers, and class scores if its weights have a
 * classifier.
 *
 * @param backbone cut at the matched layers
 * @param scores the same network up to its class scores; empty without a classifier
 * @param parameters its weights, closed with this
 * @param preprocessing of its images
 * @param fingerprint of its weights
 */
record Teacher(
        Backbone backbone,
        Optional<Backbone> scores,
        ParameterSet parameters,
        Preprocessing preprocessing,
        String fingerprint)
        implements AutoCloseable {
    /**
     * Loads a teacher.
     *
     * @param backbone cut at the layers to match
     * @param weights of the whole network; without those of a classifier there are no scores
     */
    static Teacher of(Backbone backbone, Weights weights, Device device) {
        Optional<Backbone> whole = scores(backbone, weights);
        ParameterSet parameters = weights.load(whole.orElse(backbone), DType.F32, device);
        return new Teacher(
                backbone,
                whole,
                parameters,
                weights.preprocessing(),
                weights.provenance().fingerprint());
    }

    /** Returns the network up to its class scores, if it has some after the matched layers and weights for them. */
    private static Optional<Backbone> scores(Backbone backbone, Weights weights) {
        if (!backbone.layers().contains(Backbone.LOGITS)) {
            return Optional.empty();
        }
        Backbone whole = backbone.cutAt(Backbone.LOGITS);
        boolean complete =
                whole.parameters().stream().allMatch(spec -> weights.tensors().containsKey(spec.name()));
        return complete && whole.layersUsed().containsAll(backbone.cutLayers()) ? Optional.of(whole) : Optional.empty();
    }

    /** Returns name and layer, such as {@code efficientnet-lite4:block21}. */
    String name() {
        return backbone.toString();
    }

    /** Returns the number of classes; 0 without class scores. */
    int classes() {
        return scores.map(whole -> Math.toIntExact(whole.channels())).orElse(0);
    }

    /**
     * Result for a batch, in the current scope.
     *
     * @param maps of each matched layer {@code [n, c, h, w]}, float32
     * @param scores {@code [n, k]}, float32; null without a classifier
     */
    record Output(List<Tensor> maps, @Nullable Tensor scores) {
        /** Moves all tensors to the enclosing scope. */
        Output keptBy(Scope scope) {
            maps.forEach(scope::keep);
            if (scores != null) {
                scope.keep(scores);
            }
            return this;
        }
    }

    /**
     * Computes maps and class scores without recording them.
     *
     * @param images preprocessed {@code [n, 3, side, side]}, float32 or bfloat16
     */
    Output apply(Tensor images) {
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings bound = Bindings.of(parameters.variables(tape));
            Map<String, Tensor> maps = new LinkedHashMap<>();
            Var last = scores.orElse(backbone).trace(tape.constant(images), bound, (layer, value) -> {
                if (backbone.cutLayers().contains(layer)) {
                    maps.put(layer, copied(value));
                }
            });
            Tensor scored = null;
            if (scores.isPresent()) {
                scored = copied(last).reshape(images.size(0), classes());
            }
            return new Output(List.copyOf(maps.values()), scored).keptBy(scope);
        }
    }

    /** Returns a contiguous copy in float32: the tape frees its own values. */
    private static Tensor copied(Var value) {
        Tensor exact = value.value().to(DType.F32);
        return exact == value.value() ? exact.copy() : exact;
    }

    @Override
    public void close() {
        parameters.close();
    }
}
