package org.gramian.train.distill;

import java.util.Optional;
import org.gramian.autodiff.Arithmetic;
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
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * A frozen backbone that a student learns from: the feature maps of one layer, and class scores if its weights have a classifier.
 *
 * @param backbone cut at the matched layer
 * @param scores the same network up to its class scores; empty without a classifier
 * @param parameters its weights, closed with this
 * @param preprocessing of its images
 * @param fingerprint of its weights
 */
public record Teacher(
        Backbone backbone,
        Optional<Backbone> scores,
        ParameterSet parameters,
        Preprocessing preprocessing,
        String fingerprint)
        implements AutoCloseable {
    /**
     * Loads a teacher.
     *
     * @param backbone cut at the layer to match
     * @param weights of the whole network; without those of a classifier there are no scores
     * @param classifier whether class scores are wanted
     */
    public static Teacher of(Backbone backbone, Weights weights, boolean classifier, Device device) {
        Optional<Backbone> whole = classifier ? scores(backbone, weights) : Optional.empty();
        ParameterSet parameters = weights.load(whole.orElse(backbone), DType.F32, device);
        return new Teacher(
                backbone,
                whole,
                parameters,
                weights.preprocessing(),
                weights.provenance().fingerprint());
    }

    /** Returns the network up to its class scores, if it has some that follow from the matched layer and weights for them. */
    private static Optional<Backbone> scores(Backbone backbone, Weights weights) {
        if (!backbone.layers().contains(Backbone.LOGITS)) {
            return Optional.empty();
        }
        Backbone whole = backbone.cutAt(Backbone.LOGITS);
        boolean complete =
                whole.parameters().stream().allMatch(spec -> weights.tensors().containsKey(spec.name()));
        return complete && whole.wholeLayers().contains(backbone.layer()) ? Optional.of(whole) : Optional.empty();
    }

    /** Returns name and layer, such as {@code efficientnet-lite4:block21}. */
    public String name() {
        return backbone.toString();
    }

    /** Returns the number of classes; 0 without class scores. */
    public int classes() {
        return scores.map(whole -> Math.toIntExact(whole.channels())).orElse(0);
    }

    /**
     * Result for a batch, in the current scope.
     *
     * @param maps {@code [n, c, h, w]}, float32
     * @param scores {@code [n, k]}, float32; null without a classifier
     */
    record Output(Tensor maps, @Nullable Tensor scores) {}

    /**
     * Computes maps and class scores without recording them.
     *
     * @param images preprocessed {@code [n, 3, side, side]}, float32 or bfloat16
     */
    Output apply(Tensor images) {
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings bound = Bindings.of(parameters.variables(tape));
            Var maps = backbone.apply(tape.constant(images), bound);
            Tensor scored = null;
            if (scores.isPresent()) {
                Shape shape = Shape.of(images.size(0), classes());
                Var all = scores.get().after(backbone.layer(), maps, bound);
                scored = scope.keep(Tensors.copy(
                        Views.reshape(Arithmetic.cast(all, DType.F32).value(), shape.sizes())));
            }
            // contiguous copies: the tape frees its own values
            Tensor exact = Tensors.to(maps.value(), DType.F32);
            Tensor kept = exact == maps.value() ? Tensors.copy(exact) : exact;
            return new Output(scope.keep(kept), scored);
        }
    }

    @Override
    public void close() {
        parameters.close();
    }
}
