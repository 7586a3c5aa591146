package org.gramian.model;

import java.util.random.RandomGenerator;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/**
 * Backbone and head with their parameters on one device, in float32.
 *
 * <p>The model owns the parameters; training changes their values. {@link ModelFile} stores it with its {@link
 * ModelCard}.
 *
 * @param backbone images to features
 * @param backboneParameters parameters under the backbone's names
 * @param head features to scores
 * @param headParameters parameters under the names of {@link Head#parameters}
 * @param device device of the parameters
 */
public record Model(
        Backbone backbone, ParameterSet backboneParameters, Head head, ParameterSet headParameters, Device device)
        implements AutoCloseable {
    /** Returns a model with a randomly initialized head; takes ownership of the backbone's parameters. */
    public static Model begin(
            Backbone backbone, ParameterSet backboneParameters, Head head, RandomGenerator random, Device device) {
        ParameterSet headParameters =
                ParameterSet.initialize(head.parameters(backbone.channels()), random, DType.F32, device);
        return new Model(backbone, backboneParameters, head, headParameters, device);
    }

    @Override
    public void close() {
        backboneParameters.close();
        headParameters.close();
    }
}
