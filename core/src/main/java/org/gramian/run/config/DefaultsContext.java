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
 * Dataset, weights and device, which defaults depend on.
 *
 * @param layout layout of the dataset
 * @param protocol default protocol of the layout
 * @param images number of images
 * @param classes number of classes
 * @param weights weights that can be opened, sorted by name
 * @param device device of training
 */
public record DefaultsContext(
        String layout, Protocol protocol, int images, int classes, List<WeightName> weights, Device.Kind device) {
    public DefaultsContext {
        weights = List.copyOf(weights);
    }

    /** Returns the context of a dataset, given weights and a kind of device. */
    public DefaultsContext(Dataset dataset, List<WeightName> weights, Device.Kind device) {
        this(
                dataset.source().layout(),
                Protocols.defaultFor(dataset),
                dataset.samples().size(),
                dataset.classes().size(),
                weights,
                device);
    }

    /** Returns the context of a dataset, the weights of a folder and of this program, and a device. */
    public static DefaultsContext of(Dataset dataset, WeightStore store, Device device) throws IOException {
        return new DefaultsContext(dataset, store.available(), device.kind());
    }

    /** Returns weights for a backbone: those of its own name, else its first. */
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
