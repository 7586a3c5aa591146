package org.gramian.cli;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.Weights;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FrozenBackbone;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that uses a backbone: which network, cut where, with which weights. */
final class BackboneOptions {
    /** How files of weights end, which no stored name is expected to. */
    private static final List<String> ENDINGS = List.of(".pth", ".pt", ".h5", ".caffemodel", ".safetensors", ".bin");

    @Mixin
    private final WeightsOptions folder = new WeightsOptions();

    @Option(
            names = "--backbone",
            required = true,
            paramLabel = "NAME",
            description = "the network, as googlenet, or filters, which needs no weights")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Option(
            names = "--layer",
            paramLabel = "LAYER",
            description = "where it is cut (default: the network's usual layer)")
    private @Nullable String layer;

    @Option(
            names = "--weights",
            paramLabel = "FILE",
            description = "a file of weights, or a name of 'gramian weights list' (default: the network's name)")
    private @Nullable String weights;

    /** The network alone, to find mistakes before anything is loaded. */
    Backbone backbone() {
        return layer == null ? Backbone.of(name) : Backbone.of(name, layer);
    }

    /**
     * The network with its weights.
     *
     * @param remarks told what is to be said of the weights
     */
    FrozenBackbone open(Device device, Consumer<String> remarks) throws IOException {
        Backbone backbone = backbone();
        if (!backbone.about().weights().needed()) {
            if (weights != null) {
                throw new IllegalArgumentException("the backbone '" + name + "' needs no weights: leave out --weights");
            }
            return FrozenBackbone.withoutWeights(backbone, device);
        }
        try (Arena arena = Arena.ofShared()) {
            return FrozenBackbone.of(backbone, weights(arena, remarks), device);
        }
    }

    private Weights weights(Arena arena, Consumer<String> remarks) throws IOException {
        return weights != null && isFile(weights)
                ? Weights.read(name, Path.of(weights), arena, remarks)
                : folder.store().open(WeightName.parse(weights == null ? name : weights), arena, remarks);
    }

    /** Whether a text means a file rather than a name; what looks like one and is absent is a missing file. */
    private static boolean isFile(String text) {
        return text.contains("/")
                || text.contains(File.separator)
                || ENDINGS.stream().anyMatch(text.toLowerCase(Locale.ROOT)::endsWith)
                || Files.isRegularFile(Path.of(text));
    }
}
