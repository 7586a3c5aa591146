package org.gramian.cli.predict;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.Weights;
import org.gramian.cli.common.WeightsOptions;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that uses a backbone: name, layer, weights. */
final class BackboneOptions {
    @Mixin
    private final WeightsOptions folder = new WeightsOptions();

    @Option(
            names = "--backbone",
            required = true,
            paramLabel = "NAME",
            description = "backbone, e.g. googlenet, or filters, which needs no weights")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Option(
            names = "--layer",
            paramLabel = "LAYER",
            description = "layer, or two layers as a+b (default: the backbone's default layer)")
    private @Nullable String layer;

    @Option(
            names = "--weights",
            paramLabel = "FILE",
            description = "pretrained weights: a file, or a name of 'gramian weights list' (default: the backbone's)")
    private @Nullable String weights;

    /** The network alone, to find mistakes before anything is loaded. */
    Backbone backbone() {
        return layer == null ? Backbone.of(name) : Backbone.of(name, layer);
    }

    /**
     * The network with its weights.
     *
     * @param remarks receives notes on the weights
     */
    FrozenBackbone open(Device device, Consumer<String> remarks) throws IOException {
        Backbone backbone = backbone();
        if (!backbone.about().weights().needed()) {
            if (weights != null) {
                throw new IllegalArgumentException("the backbone '" + name + "' needs no weights: remove --weights");
            }
            return FrozenBackbone.withoutWeights(backbone, device);
        }
        try (Arena arena = Arena.ofShared()) {
            Weights opened = weights(arena, remarks);
            try {
                return FrozenBackbone.of(backbone, opened, device);
            } catch (IllegalArgumentException tooFew) {
                throw new UnusableWeightsException(tooFew);
            }
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    private Weights weights(Arena arena, Consumer<String> remarks) throws IOException {
        return folder.store().find(name, weights == null ? name : weights, arena, remarks);
    }
}
