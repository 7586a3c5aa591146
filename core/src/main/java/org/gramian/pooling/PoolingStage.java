package org.gramian.pooling;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.Tensor;

/**
 * One step of a {@link Pooling}: a layer with a text form and a known number of output channels.
 *
 * @since 0.1
 */
public interface PoolingStage extends Layer {
    /**
     * Syntax of a stage, for help.
     *
     * @param name name of the stage, e.g. {@code rbf}
     * @param form text form with arguments and their defaults
     * @param meaning what the stage does, in one line
     */
    record Syntax(String name, String form, String meaning) {}

    /** Returns the syntax of all stages, in the order of the data flow. */
    static List<Syntax> all() {
        return StageRegistry.all();
    }

    /** Returns the text that {@link Pooling#parse} parses, such as {@code conv:512}; default arguments are omitted. */
    String text();

    /** Returns the first word of the text, the prefix of its parameters. */
    default String word() {
        String text = text();
        int colon = text.indexOf(':');
        return colon < 0 ? text : text.substring(0, colon);
    }

    /**
     * Returns the number of output channels, matrix rows or vector elements.
     *
     * @param channels number of input channels, matrix rows or vector elements
     * @throws IllegalArgumentException if that number is not supported
     */
    long outputs(long channels);

    /**
     * Returns the largest number of images that its parameters are fitted to before training; 0 if it has no fitted
     * parameters. More than {@link Fitting#DEFAULT_IMAGES} take memory and rarely change the result.
     */
    default int fittedTo() {
        return 0;
    }

    /**
     * Fits parameters to data.
     *
     * @param inputs inputs of this stage for a sample of training images, shaped as for {@link #apply}
     * @param parameters parameters of this stage under their own names
     * @param random source of random values
     */
    default void fit(Tensor inputs, ParameterSet parameters, RandomGenerator random) {}

    /**
     * Returns the random inputs that training binds beside the parameters: name to number of columns k of {@code [n, k]},
     * uniform in [0, 1). They are not bound in prediction.
     *
     * @param channels number of input channels, matrix rows or vector elements
     */
    default Map<String, Long> randomInputs(long channels) {
        return Map.of();
    }

    /** Returns what kind of stage it is, for messages, such as {@code reduction}. */
    String kind();

    /**
     * Applies the stage and reports its value, or those of its parts, as soon as they are computed.
     *
     * @param listener called with the kind and text of the stage and its value
     */
    default Var trace(Var input, Bindings parameters, BiConsumer<String, Var> listener) {
        Var output = apply(input, parameters);
        listener.accept(kind() + " " + text(), output);
        return output;
    }

    /** Returns whether gradients reach the input; hard assignment to a vocabulary has none. */
    default boolean isDifferentiable() {
        return true;
    }

    /**
     * Returns this stage with all open choices made.
     *
     * @param place position in the pooling
     * @throws IllegalArgumentException if the stage cannot be used there
     */
    default PoolingStage resolve(Context place) {
        return this;
    }

    /**
     * Position of a stage in a pooling, from which open choices are made.
     *
     * @param backbone backbone that computes the features, if known
     * @param entering number of channels, or length of the vectors, at the input of the stage
     * @param mixed whether an earlier stage has mixed the backbone's channels
     * @param images number of training images
     */
    @SuppressWarnings("exports") // for the engines and the training
    record Context(Optional<Backbone> backbone, long entering, boolean mixed, int images) {
        /** Returns the position of the first stage. */
        public static Context on(Backbone backbone, int images) {
            return new Context(Optional.of(backbone), backbone.channels(), false, images);
        }

        /** Returns the position after a stage without open choices. */
        public Context after(PoolingStage stage) {
            return new Context(backbone, stage.outputs(entering), true, images);
        }
    }
}
