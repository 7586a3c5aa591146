package org.gramian.model;

import java.util.random.RandomGenerator;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/**
 * Backbone, pooling and classifier as one value, with their parameters on one device, in float32.
 *
 * <p>It owns the parameters; training changes their values. {@link ModelFile} keeps it with its {@link ModelCard}.
 *
 * @param backbone images to features
 * @param backboneParameters under the backbone's own names
 * @param head features to scores
 * @param headParameters under the names of {@link Head#parameters}
 * @param device where they are
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
