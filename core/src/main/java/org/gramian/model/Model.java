package org.gramian.model;

import java.util.Optional;
import java.util.random.RandomGenerator;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.model.OpenSet.KnownClasses;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/**
 * Backbone and head with their parameters on one device, in float32.
 *
 * <p>The model owns the parameters; training changes their values. {@link ModelFile} stores it with its {@link ModelCard}.
 * {@link #backbone} and {@link #head} define what is computed; {@link #features}, {@link #describe} and {@link #scores} compute
 * it with the layers that {@link Acceleration} puts in their place.
 *
 * @since 0.1
 */
@SuppressWarnings("exports") // for the engines and the training
public final class Model implements AutoCloseable {
    private final Backbone backbone;
    private final ParameterSet backboneParameters;
    private final Head head;
    private final ParameterSet headParameters;
    private final Device device;
    private final Backbone fusedBackbone;
    private final Layer fusedPooling;
    private Optional<KnownClasses> known = Optional.empty();

    /**
     * Puts a model on a device; takes ownership of the parameters.
     *
     * @param backbone images to features
     * @param backboneParameters parameters under the backbone's names
     * @param head features to scores
     * @param headParameters parameters under the names of {@link Head#parameters}
     * @param device device of the parameters
     */
    public Model(
            Backbone backbone, ParameterSet backboneParameters, Head head, ParameterSet headParameters, Device device) {
        this.backbone = backbone;
        this.backboneParameters = backboneParameters;
        this.head = head;
        this.headParameters = headParameters;
        this.device = device;
        this.fusedBackbone = Acceleration.rewrite(backbone);
        this.fusedPooling = Acceleration.rewrite(head.pooling());
    }

    /** Returns a model with a randomly initialized head; takes ownership of the backbone's parameters. */
    public static Model begin(
            Backbone backbone, ParameterSet backboneParameters, Head head, RandomGenerator random, Device device) {
        ParameterSet headParameters =
                ParameterSet.initialize(head.parameters(backbone.channels()), random, DType.F32, device);
        return new Model(backbone, backboneParameters, head, headParameters, device);
    }

    /** Returns the definition of the backbone, images to features. */
    public Backbone backbone() {
        return backbone;
    }

    /** Returns the parameters of the backbone. */
    public ParameterSet backboneParameters() {
        return backboneParameters;
    }

    /** Returns the definition of the head, features to scores. */
    public Head head() {
        return head;
    }

    /** Returns the parameters of the head, under the names of {@link Head#parameters}. */
    public ParameterSet headParameters() {
        return headParameters;
    }

    /** Returns the device of the parameters. */
    public Device device() {
        return device;
    }

    /**
     * Computes features {@code [n, c, h, w]} of images.
     *
     * @param images {@code [n, 3, height, width]}
     * @param parameters variables of the backbone's parameters
     */
    public Var features(Var images, Bindings parameters) {
        return fusedBackbone.apply(images, parameters);
    }

    /**
     * Computes descriptors {@code [n, d]} of features.
     *
     * @param features {@code [n, c, h, w]}
     * @param parameters variables of the head's parameters
     */
    public Var describe(Var features, Bindings parameters) {
        return fusedPooling.apply(features, parameters.under(Head.POOLING));
    }

    /**
     * Computes scores {@code [n, k]} of features.
     *
     * @param features {@code [n, c, h, w]}
     * @param parameters variables of the head's parameters
     */
    public Var scores(Var features, Bindings parameters, Head.Mode mode) {
        return head.classify(describe(features, parameters), parameters, mode);
    }

    /** Returns the distances from the classes, by which images of no class are recognized; empty if they were not fitted. */
    public Optional<KnownClasses> known() {
        return known;
    }

    /** Sets or removes the distances from the classes, which belong to the model then. */
    public void setKnown(Optional<KnownClasses> fitted) {
        known.ifPresent(KnownClasses::close);
        known = fitted;
    }

    @Override
    public void close() {
        setKnown(Optional.empty());
        backboneParameters.close();
        headParameters.close();
    }
}
