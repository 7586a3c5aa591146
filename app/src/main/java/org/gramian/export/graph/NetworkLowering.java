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
            Graph part = graph.at(network.name());
            Value adapted = adapted(part, images, backbone.preprocessing().to(network.preprocessing()));
            each.add(new NetworkLowering(part, parameters.under(network.name())).featuresOfOne(network, adapted));
        }
        return stacked(each);
    }

    /** Converts images to the preprocessing of another network. */
    private static Value adapted(Graph part, Value images, Preprocessing.Change change) {
        if (change.isNone()) {
            return images;
        }
        long[] channels =
                change.channels().stream().mapToLong(Integer::longValue).toArray();
        Value factors = part.constant("factors", List.of(3L, 1L, 1L), doubles(change.factors()));
        Value summands = part.constant("summands", List.of(3L, 1L, 1L), doubles(change.summands()));
        return part.add(part.mul(part.gather(images, channels, 1), factors), summands);
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
                taken.add(stage.passesMaps() ? state : tokens(stage.name()).features(state, maps));
            }
        }
        return stacked(taken);
    }

    /** Resizes maps to the size of the first and concatenates them. */
    private Value stacked(List<Value> taken) {
        if (taken.size() == 1) {
            return taken.getFirst();
        }
        Graph part = graph.at("layers");
        Value first = taken.getFirst();
        List<Value> resized = taken.stream()
                .map(layer -> part.resize(layer, first.at(2), first.at(3)))
                .toList();
        return graph.concat(resized, 1);
    }

    /** What a stage makes of maps. */
    Value lower(NetworkLayer stage, Value maps) {
        return switch (stage) {
            case Conv conv -> convolution(conv, maps);
            case Pool pool -> pool(pool, maps);
            case ResponseNormalization response -> responseNorm(response, maps);
            case Dense dense -> dense(dense, maps);
            case Chain chain -> chain(chain, maps);
            case Branches branches ->
                graph.at(branches.name())
                        .concat(
                                branches.branches().stream()
                                        .map(branch -> lower(branch, maps))
                                        .toList(),
                                1);
            case Residual residual -> residual(residual, maps);
            case TopDown topDown -> topDown(topDown, maps);
            case SqueezeExcitation excitation -> graph.at(excitation.name()).mul(maps, chain(excitation.gate(), maps));
            case FilterBank bank -> bank(bank, maps);
            case Patches patches -> patches(patches, maps);
            case TokenLayer layer -> new TokenLowering(graph, parameters).lower(layer, maps);
            case ClassToken token -> tokens(token.name()).classToken(maps);
            case ConvNext.Block block -> convNext(block, maps);
            case ConvNext.ChannelNorm norm -> tokens(norm.name()).channelNorm(norm, maps);
            case OnnxStage imported ->
                new ImportedNodes(graph.at(imported.name()), parameters).copy(imported.segment(), maps);
            case NetworkLayer.Fused fused -> lower(fused.plain(), maps);
        };
    }

    private TokenLowering tokens(String part) {
        return new TokenLowering(graph.at(part), parameters);
    }

    private Value patches(Patches patches, Value maps) {
        Graph part = graph.at(patches.name());
        HostParameters own = parameters.under(patches.name());
        long[] size = {patches.size(), patches.size()};
        return part.node(
                "Conv",
                List.of(maps.at(0), (long) patches.channels(), maps.at(2) / size[0], maps.at(3) / size[1]),
                List.of(maps, part.parameter(own, "weight"), part.parameter(own, "bias")),
                Map.of("kernel_shape", size, "strides", size));
    }

    private Value convNext(ConvNext.Block block, Value maps) {
        Graph part = graph.at(block.name());
        HostParameters own = parameters.under(block.name() + ".block.0");
        List<Value> filters = List.of(part.parameter(own, "weight"), part.parameter(own, "bias"));
        return tokens(block.name()).convNext(block, maps, convolve(part, maps, filters, ConvNext.DEPTHWISE));
    }

    private Value chain(Chain chain, Value maps) {
        Value result = maps;
        for (NetworkLayer stage : chain.stages()) {
            result = lower(stage, result);
        }
        return result;
    }

    private Value residual(Residual residual, Value maps) {
        Graph part = graph.at(residual.name());
        Value sum = part.add(chain(residual.body(), maps), chain(residual.shortcut(), maps));
        return part.activated(sum, residual.activation());
    }

    private Value topDown(TopDown topDown, Value maps) {
        Graph part = graph.at(topDown.name());
        Value resized = part.resize(chain(topDown.body(), maps), maps.at(2), maps.at(3));
        return part.activated(part.add(resized, maps), topDown.activation());
    }

    private Value pool(Pool pool, Value maps) {
        Graph part = graph.at(pool.name());
        return switch (pool.kind()) {
            case MAX -> part.maxPool(maps, pool.window());
            case GLOBAL_AVERAGE -> part.globalAverage(maps);
        };
    }

    private Value responseNorm(ResponseNormalization stage, Value maps) {
        ResponseNorm norm = stage.norm();
        return graph.at(stage.name())
                .node(
                        "LRN",
                        maps.sizes(),
                        List.of(maps),
                        Map.<String, Object>of(
                                "size",
                                (long) norm.size(),
                                "alpha",
                                norm.alpha(),
                                "beta",
                                norm.beta(),
                                "bias",
                                norm.k()));
    }

    private Value dense(Dense dense, Value maps) {
        Graph part = graph.at(dense.name());
        HostParameters own = parameters.under(dense.name());
        Value sums = part.linear(
                part.reshape(maps, maps.each()), part.parameter(own, "weight"), part.parameter(own, "bias"));
        Value activated = part.activated(sums, dense.activation());
        return part.reshape(activated, dense.channels(), 1, 1);
    }

    private Value convolution(Conv conv, Value maps) {
        Graph part = graph.at(conv.name());
        List<Value> filters = filters(conv, part);
        Value sums = convolve(part, maps, filters, conv.kernel());
        return part.activated(sums, conv.finish().activation());
    }

    private List<Value> filters(Conv conv, Graph part) {
        String norm = conv.finish().norm();
        HostParameters own = parameters.under(conv.name());
        if (norm.isEmpty()) {
            return List.of(part.parameter(own, "weight"), part.parameter(own, "bias"));
        }
        double[] bias = new double[Math.toIntExact(own.get("weight").shape().at(0))];
        return normalized(part, own, bias, parameters.under(norm), conv.finish().epsilon());
    }

    /** Returns weight and bias of a layer with the batch norm after it. */
    static List<Value> normalized(Graph part, HostParameters own, double[] bias, HostParameters norm, double epsilon) {
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
                part.constant("weight", own.get("weight").shape(), weights),
                part.constant("bias", List.of((long) bias.length), offsets));
    }

    /** A convolution by weights, and a bias if there is one. */
    private static Value convolve(Graph part, Value maps, List<Value> filters, ConvolutionKernel kernel) {
        List<Value> inputs = new ArrayList<>(List.of(maps));
        inputs.addAll(filters);
        int top = kernel.before(maps.at(2));
        int left = kernel.before(maps.at(3));
        return part.node(
                "Conv",
                List.of(maps.at(0), filters.getFirst().at(0), kernel.windows(maps.at(2)), kernel.windows(maps.at(3))),
                inputs,
                Map.of(
                        "kernel_shape", new long[] {kernel.size(), kernel.size()},
                        "strides", new long[] {kernel.stride(), kernel.stride()},
                        "pads", new long[] {top, left, kernel.after(), kernel.after()},
                        "group", kernel.depthwise() ? maps.at(1) : 1L));
    }

    private Value bank(FilterBank bank, Value images) {
        Graph part = graph.at(bank.name());
        Value filters = part.parameter(parameters, "bank.weight");
        Value halving = part.parameter(parameters, "halving.weight");
        List<Value> parts = new ArrayList<>();
        Value level = images;
        for (int i = 0; i < FilterBank.LEVELS; i++) {
            Value responses = convolve(part, level, List.of(filters), FilterBank.BANK);
            Value negative = part.scale(responses, -1);
            parts.add(part.averagePool(part.relu(responses), FilterBank.averaging(i)));
            parts.add(part.averagePool(part.relu(negative), FilterBank.averaging(i)));
            level = convolve(part, level, List.of(halving), FilterBank.HALVING);
        }
        Value filter = part.parameter(parameters, "colour.weight");
        Value colours = convolve(part, level, List.of(filter), FilterBank.POINT);
        parts.add(part.relu(colours));
        parts.add(part.relu(part.scale(colours, -1)));
        return part.concat(parts, 1);
    }
}
