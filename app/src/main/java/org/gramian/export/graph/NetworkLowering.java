package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.FeatureMaps.ResponseNorm;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.ConvNext;
import org.gramian.backbone.network.ConvolutionKernel;
import org.gramian.backbone.network.FilterBank;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Branches;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Dense;
import org.gramian.backbone.network.NetworkLayer.Pool;
import org.gramian.backbone.network.NetworkLayer.Residual;
import org.gramian.backbone.network.NetworkLayer.ResponseNormalization;
import org.gramian.backbone.network.NetworkLayer.SqueezeExcitation;
import org.gramian.backbone.network.NetworkLayer.TopDown;
import org.gramian.backbone.network.OnnxStage;
import org.gramian.backbone.network.Patches;
import org.gramian.backbone.network.VisionTransformer.ClassToken;
import org.gramian.backbone.network.VisionTransformer.TokenLayer;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * A network's stages as operators: maps {@code [n, c, h, w]} to maps. Batch norms become part of their convolutions.
 *
 * @param graph to which nodes are added
 * @param parameters of the network, under its own names
 */
record NetworkLowering(Graph graph, HostParameters parameters) {
    /** Features of images, as {@link Backbone#apply}. */
    Value features(Backbone backbone, Value images) {
        List<Backbone> networks = backbone.networks();
        if (networks.size() == 1) {
            return featuresOfOne(backbone, images);
        }
        List<Value> each = new ArrayList<>();
        for (Backbone network : networks) {
            NetworkLowering own = new NetworkLowering(graph, parameters.under(network.name()));
            Preprocessing.Change change = backbone.preprocessing().to(network.preprocessing());
            each.add(graph.in(network.name(), () -> own.featuresOfOne(network, adapted(images, change))));
        }
        return stacked(each);
    }

    /** Converts images to the preprocessing of another network. */
    private Value adapted(Value images, Preprocessing.Change change) {
        if (change.isNone()) {
            return images;
        }
        long[] channels =
                change.channels().stream().mapToLong(Integer::longValue).toArray();
        Value factors = graph.constant("factors", List.of(3L, 1L, 1L), doubles(change.factors()));
        Value summands = graph.constant("summands", List.of(3L, 1L, 1L), doubles(change.summands()));
        return images.gather(channels, 1).mul(factors).add(summands);
    }

    private static double[] doubles(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private Value featuresOfOne(Backbone backbone, Value images) {
        List<Value> taken = new ArrayList<>();
        Value state = images;
        Shape maps = Shape.of(images.at(1), images.at(2), images.at(3));
        for (NetworkLayer stage : backbone.stages(NetworkLayer.class)) {
            state = lower(stage, state);
            maps = stage.output(maps);
            if (backbone.cutLayers().contains(stage.name())) {
                Value tokens = state;
                Shape shape = maps;
                taken.add(
                        stage.passesMaps()
                                ? state
                                : graph.in(stage.name(), () -> TokenLowering.features(tokens, shape)));
            }
        }
        return stacked(taken);
    }

    /** Resizes maps to the size of the first and concatenates them. */
    private Value stacked(List<Value> taken) {
        Value first = taken.getFirst();
        List<Value> resized = new ArrayList<>();
        taken.forEach(layer -> resized.add(graph.in("layers", () -> layer.resize(first.at(2), first.at(3)))));
        return taken.size() == 1 ? first : graph.concat(resized, 1);
    }

    Value lower(NetworkLayer stage, Value maps) {
        String name = stage.name();
        TokenLowering tokens = new TokenLowering(graph, parameters);
        return switch (stage) {
            case Chain chain -> chain(chain, maps);
            case NetworkLayer.Fused fused -> lower(fused.plain(), maps);
            case Branches branches -> {
                List<Value> parts = branches.branches().stream()
                        .map(branch -> lower(branch, maps))
                        .toList();
                yield graph.in(name, () -> graph.concat(parts, 1));
            }
            case Residual residual -> {
                Value body = chain(residual.body(), maps);
                Value shortcut = chain(residual.shortcut(), maps);
                yield graph.in(name, () -> body.add(shortcut).activated(residual.activation()));
            }
            case TopDown topDown -> {
                Value body = chain(topDown.body(), maps);
                yield graph.in(
                        name,
                        () -> body.resize(maps.at(2), maps.at(3)).add(maps).activated(topDown.activation()));
            }
            case SqueezeExcitation excitation -> {
                Value gate = chain(excitation.gate(), maps);
                yield graph.in(name, () -> maps.mul(gate));
            }
            case Conv conv ->
                graph.in(
                        name,
                        () -> convolve(maps, filters(conv), conv.kernel())
                                .activated(conv.finish().activation()));
            case Pool pool ->
                graph.in(name, () -> switch (pool.kind()) {
                    case MAX -> maps.maxPool(pool.window());
                    case GLOBAL_AVERAGE -> maps.globalAverage();
                });
            case ResponseNormalization response -> graph.in(name, () -> responseNorm(response.norm(), maps));
            case Dense dense -> graph.in(name, () -> dense(dense, maps));
            case FilterBank _ -> graph.in(name, () -> bank(maps));
            case Patches patches -> graph.in(name, () -> patches(patches, maps));
            case TokenLayer layer -> graph.in(name, () -> tokens.lower(layer, maps));
            case ClassToken _ -> graph.in(name, () -> TokenLowering.classToken(maps));
            case ConvNext.Block block ->
                graph.in(name, () -> {
                    List<Value> filters = filters(name + ".block.0");
                    return tokens.convNext(block, maps, convolve(maps, filters, ConvNext.DEPTHWISE));
                });
            case ConvNext.ChannelNorm norm -> graph.in(name, () -> tokens.channelNorm(norm, maps));
            case OnnxStage imported ->
                graph.in(name, () -> new ImportedNodes(graph, parameters).copy(imported.segment(), maps));
        };
    }

    private Value chain(Chain chain, Value maps) {
        Value result = maps;
        for (NetworkLayer stage : chain.stages()) {
            result = lower(stage, result);
        }
        return result;
    }

    private Value dense(Dense dense, Value maps) {
        Value flat = maps.flatten();
        List<Value> filters = filters(dense.name());
        return flat.linear(filters.get(0), filters.get(1))
                .activated(dense.activation())
                .reshape(dense.channels(), 1, 1);
    }

    private Value patches(Patches patches, Value maps) {
        long[] size = {patches.size(), patches.size()};
        List<Value> inputs = new ArrayList<>(List.of(maps));
        inputs.addAll(filters(patches.name()));
        return graph.node(
                "Conv",
                List.of(maps.at(0), (long) patches.channels(), maps.at(2) / size[0], maps.at(3) / size[1]),
                inputs,
                Map.of("kernel_shape", size, "strides", size));
    }

    private Value responseNorm(ResponseNorm norm, Value maps) {
        Map<String, Object> attributes =
                Map.of("size", (long) norm.size(), "alpha", norm.alpha(), "beta", norm.beta(), "bias", norm.k());
        return graph.node("LRN", maps.sizes(), List.of(maps), attributes);
    }

    private List<Value> filters(String name) {
        HostParameters own = parameters.under(name);
        return List.of(own.value("weight"), own.value("bias"));
    }

    private List<Value> filters(Conv conv) {
        String norm = conv.finish().norm();
        if (norm.isEmpty()) {
            return filters(conv.name());
        }
        HostParameters own = parameters.under(conv.name());
        double[] bias = new double[Math.toIntExact(own.get("weight").shape().at(0))];
        return normalized(own, bias, parameters.under(norm), conv.finish().epsilon());
    }

    /** Returns weight and bias of a layer with the batch norm after it. */
    static List<Value> normalized(HostParameters own, double[] bias, HostParameters norm, double epsilon) {
        float[] weights = own.toFloats("weight");
        double[] gamma = norm.toDoubles("weight");
        double[] beta = norm.toDoubles("bias");
        double[] mean = norm.toDoubles("running_mean");
        double[] variance = norm.toDoubles("running_var");
        int each = weights.length / bias.length;
        double[] offsets = new double[bias.length];
        for (int k = 0; k < bias.length; k++) {
            double factor = gamma[k] / Math.sqrt(variance[k] + epsilon);
            offsets[k] = (bias[k] - mean[k]) * factor + beta[k];
            for (int i = 0; i < each; i++) {
                weights[k * each + i] = (float) (weights[k * each + i] * factor);
            }
        }
        return List.of(
                own.graph().constant("weight", own.get("weight").shape(), weights),
                own.graph().constant("bias", List.of((long) bias.length), offsets));
    }

    /** A convolution by weights, and a bias if there is one. */
    private Value convolve(Value maps, List<Value> filters, ConvolutionKernel kernel) {
        List<Value> inputs = new ArrayList<>(List.of(maps));
        inputs.addAll(filters);
        int top = kernel.before(maps.at(2));
        int left = kernel.before(maps.at(3));
        return graph.node(
                "Conv",
                List.of(maps.at(0), filters.getFirst().at(0), kernel.windows(maps.at(2)), kernel.windows(maps.at(3))),
                inputs,
                Map.of(
                        "kernel_shape", new long[] {kernel.size(), kernel.size()},
                        "strides", new long[] {kernel.stride(), kernel.stride()},
                        "pads", new long[] {top, left, kernel.after(), kernel.after()},
                        "group", kernel.depthwise() ? maps.at(1) : 1L));
    }

    private Value bank(Value images) {
        Value filters = parameters.value("bank.weight");
        Value halving = parameters.value("halving.weight");
        List<Value> parts = new ArrayList<>();
        Value level = images;
        for (int i = 0; i < FilterBank.LEVELS; i++) {
            Value responses = convolve(level, List.of(filters), FilterBank.BANK);
            Value negative = responses.scale(-1);
            parts.add(responses.relu().averagePool(FilterBank.averaging(i)));
            parts.add(negative.relu().averagePool(FilterBank.averaging(i)));
            level = convolve(level, List.of(halving), FilterBank.HALVING);
        }
        Value filter = parameters.value("colour.weight");
        Value colours = convolve(level, List.of(filter), FilterBank.POINT);
        parts.add(colours.relu());
        parts.add(colours.scale(-1).relu());
        return graph.concat(parts, 1);
    }
}
