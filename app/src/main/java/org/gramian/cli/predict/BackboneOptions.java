package org.gramian.cli.predict;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.Weights;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.OnnxImport;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that uses a backbone: name, layer, weights. */
final class BackboneOptions {
    @Mixin
    private final InputOptions network = new InputOptions();

    @Option(
            names = "--backbone",
            required = true,
            paramLabel = "NAME",
            description = "backbone, e.g. googlenet, gramian-s or filters, which need no download, or FILE.onnx")
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
    Backbone backbone() throws IOException {
        return cut(OnnxImport.backbone(name, network.store()));
    }

    private Backbone cut(Backbone whole) {
        return layer == null ? whole : whole.cutAt(layer);
    }

    /**
     * The network with its weights.
     *
     * @param remarks receives notes on the weights
     */
    FrozenBackbone open(Device device, Consumer<String> remarks) throws IOException {
        String resolved = network.resolve(name, remarks);
        Backbone backbone = cut(network.store().backbone(resolved));
        if (!backbone.about().weights().needed()) {
            if (weights != null) {
                throw new IllegalArgumentException("the backbone '" + name + "' needs no weights: remove --weights");
            }
            return FrozenBackbone.withoutWeights(backbone, device);
        }
        try (Arena arena = Arena.ofShared()) {
            Weights opened = network.store().find(backbone, weights == null ? resolved : weights, arena, remarks);
            try {
                return FrozenBackbone.of(backbone, opened, device);
            } catch (IllegalArgumentException tooFew) {
                throw new UnusableWeightsException(tooFew);
            }
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }
}
