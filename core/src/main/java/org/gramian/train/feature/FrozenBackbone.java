package org.gramian.train.feature;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/**
 * A backbone with its weights, float32 on a device, and the weights of its tail (the layers behind the cut) if the head uses them.
 *
 * @param folded batch norms folded into their convolutions, see {@link Backbone#folded}; closed with this
 * @param tail weights of the layers behind the cut; empty if unused; closed with this
 */
public record FrozenBackbone(
        Backbone backbone,
        ParameterSet parameters,
        ParameterSet folded,
        ParameterSet tail,
        Preprocessing preprocessing,
        String fingerprint,
        Device device)
        implements AutoCloseable {
    public FrozenBackbone {
        backbone = Acceleration.rewrite(backbone);
    }

    public FrozenBackbone(
            Backbone backbone,
            ParameterSet parameters,
            Preprocessing preprocessing,
            String fingerprint,
            Device device) {
        this(backbone, parameters, backbone.folded(parameters), new ParameterSet(), preprocessing, fingerprint, device);
    }

    public static FrozenBackbone of(Backbone backbone, Weights weights, boolean withTail, Device device) {
        ParameterSet tail = withTail ? weights.load(backbone.tail(), DType.F32, device) : new ParameterSet();
        try {
            ParameterSet parameters = weights.load(backbone, DType.F32, device);
            String fingerprint = weights.provenance().fingerprint();
            return new FrozenBackbone(
                    backbone,
                    parameters,
                    backbone.folded(parameters),
                    tail,
                    weights.preprocessing(),
                    fingerprint,
                    device);
        } catch (RuntimeException | Error failed) {
            tail.close();
            throw failed;
        }
    }

    /** Returns a backbone with fixed parameters, such as {@code filters}. */
    public static FrozenBackbone withoutWeights(Backbone backbone, Device device) {
        ParameterSet parameters =
                ParameterSet.initialize(backbone.parameters(), new SplittableRandom(0), DType.F32, device);
        return new FrozenBackbone(backbone, parameters, backbone.preprocessing(), fingerprint(parameters), device);
    }

    /** Hashes the values, so that a change of the formulas changes the fingerprint. */
    private static String fingerprint(ParameterSet parameters) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Parameter parameter : parameters.all()) {
            String head = parameter.spec().name() + parameter.value().shape();
            all.writeBytes(head.getBytes(StandardCharsets.UTF_8));
            all.writeBytes(parameter.value().toBytes());
        }
        return Sha256.hex(Sha256.of(all.toByteArray()));
    }

    @Override
    public void close() {
        parameters.close();
        folded.close();
        tail.close();
    }
}
