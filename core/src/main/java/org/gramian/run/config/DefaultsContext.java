package org.gramian.run.config;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.image.dataset.protocol.Protocols;
import org.gramian.tensor.Device;

/**
 * What choices depend on besides the configuration.
 *
 * @param layout how the images lie on disk
 * @param protocol the usual one for them
 * @param images how many there are
 * @param weights those at hand, sorted by name
 * @param device what computes
 */
public record DefaultsContext(
        String layout, Protocol protocol, int images, List<WeightName> weights, Device.Kind device) {
    public DefaultsContext {
        weights = List.copyOf(weights);
    }

    /** A dataset, some weights and a kind of device. */
    public DefaultsContext(Dataset dataset, List<WeightName> weights, Device.Kind device) {
        this(
                dataset.source().layout(),
                Protocols.usual(dataset),
                dataset.samples().size(),
                weights,
                device);
    }

    /** A dataset, the weights of a folder and a device. */
    public static DefaultsContext of(Dataset dataset, WeightStore store, Device device) throws IOException {
        return new DefaultsContext(dataset, store.names(), device.kind());
    }

    /** Weights for a network: those of its own name, else the first that there are. */
    Optional<WeightName> weightsOf(String backbone) {
        List<WeightName> own = weights.stream()
                .filter(name -> name.architecture().equals(backbone))
                .toList();
        return own.stream()
                .filter(name -> name.text().equals(backbone))
                .findFirst()
                .or(() -> own.stream().findFirst());
    }
}
