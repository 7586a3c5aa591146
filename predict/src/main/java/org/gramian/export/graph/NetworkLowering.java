package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.ConvNext;
import org.gramian.backbone.network.ConvolutionKernel;
import org.gramian.backbone.network.FilterBank;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.ResponseNormalization;
import org.gramian.backbone.network.OnnxStage;
import org.gramian.backbone.network.Patches;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;

/** A network's stages as operators: maps {@code [n, c, h, w]} to maps. Batch norms become part of their convolutions. */
record NetworkLowering(Graph graph, HostParameters parameters) {
    /** Features of images, as {@link Backbone#apply}. */
    Value features(Backbone backbone, Value images) {
        return stacked(layers(backbone, images));
    }

    /** Returns the maps of the cut layers, in the order of the network. */
    List<Value> layers(Backbone backbone, Value images) {
        List<Value> taken = new ArrayList<>();
        Value state = images;
        Shape maps = Shape.of(images.at(1), images.at(2), images.at(3));
        for (NetworkLayer stage : backbone.stages(NetworkLayer.class)) {
            state = lower(stage, state);
            maps = stage.output(maps);
            if (backbone.cutLayers().contains(stage.name())) {
                Value tokens = state;
                Shape shape = maps;
                taken.add(stage.passesMaps() ? state : graph.in(stage.name(), () -> features(tokens, shape)));
            }
        }
        return taken;
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
        return switch (stage) {
            case NetworkLayer.Chain chain -> chain(chain, maps);
            case NetworkLayer.Fused fused -> lower(fused.plain(), maps);
            case NetworkLayer.Branches branches -> {
                List<Value> parts = branches.branches().stream()
                        .map(branch -> lower(branch, maps))
                        .toList();
                yield graph.in(name, () -> graph.concat(parts, 1));
            }
            case NetworkLayer.Residual residual -> {
                Value body = chain(residual.body(), maps);
                Value shortcut = chain(residual.shortcut(), maps);
                yield graph.in(name, () -> body.add(shortcut).activated(residual.activation()));
            }
            case NetworkLayer.TopDown topDown -> {
                Value body = chain(topDown.body(), maps);
                yield graph.in(
                        name,
                        () -> body.resize(maps.at(2), maps.at(3)).add(maps).activated(topDown.activation()));
            }
            case NetworkLayer.SqueezeExcitation excitation -> {
                Value gate = chain(excitation.gate(), maps);
                yield graph.in(name, () -> maps.mul(gate));
            }
            case Conv conv ->
                graph.in(
                        name,
                        () -> convolve(maps, filters(conv), conv.kernel())
                                .activated(conv.finish().activation()));
            case NetworkLayer.Pool pool ->
                graph.in(name, () -> switch (pool.kind()) {
                    case MAX -> maps.maxPool(pool.window());
                    case GLOBAL_AVERAGE -> maps.globalAverage();
                });
            case ResponseNormalization response -> graph.in(name, () -> responseNorm(response.norm(), maps));
            case NetworkLayer.Dense dense -> graph.in(name, () -> dense(dense, maps));
            case FilterBank _ -> graph.in(name, () -> bank(maps));
            case Patches patches -> graph.in(name, () -> patches(patches, maps));
            case VisionTransformer.TokenLayer layer -> graph.in(name, () -> lower(layer, maps));
            case VisionTransformer.ClassToken _ ->
                graph.in(name, () -> maps.slice(1, 0, 1).reshape(maps.at(2), 1, 1)); // the first token
            case ConvNext.Block block ->
                graph.in(name, () -> {
                    List<Value> filters = filters(name + ".block.0");
                    return convNext(block, maps, convolve(maps, filters, ConvNext.DEPTHWISE));
                });
            case ConvNext.ChannelNorm norm -> graph.in(name, () -> channelNorm(norm, maps));
            case OnnxStage imported ->
                graph.in(name, () -> new ImportedNodes(graph, parameters).copy(imported.segment(), maps));
        };
    }

    private Value chain(NetworkLayer.Chain chain, Value maps) {
        Value result = maps;
        for (NetworkLayer stage : chain.stages()) {
            result = lower(stage, result);
        }
        return result;
    }

    private Value dense(NetworkLayer.Dense dense, Value maps) {
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

    private Value lower(VisionTransformer.TokenLayer layer, Value state) {
        return switch (layer) {
            case VisionTransformer.Embedding embedding -> embedding(embedding, state);
            case VisionTransformer.Block block -> block(block, state);
            case VisionTransformer.Norm norm -> norm(state, norm.name(), VisionTransformer.EPSILON);
        };
    }

    /** Returns the patch tokens as feature maps, as {@link VisionTransformer.TokenLayer#features}. */
    private static Value features(Value tokens, Shape maps) {
        long end = tokens.at(1);
        Value patches = tokens.slice(1, end - maps.at(1) * maps.at(2), end);
        return patches.transpose().reshape(maps.at(0), maps.at(1), maps.at(2));
    }

    private Value embedding(VisionTransformer.Embedding embedding, Value maps) {
        long width = maps.at(1);
        long patches = maps.at(2) * maps.at(3);
        Value tokens = maps.reshape(width, patches).transpose();
        double[] prefix;
        double[] positions;
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            VisionTransformer.Embedding.Constants constants = embedding.constants(
                    name -> tape.constant(parameters.get(name).toTensor()), maps.at(2), maps.at(3));
            prefix = constants.prefix().value().toDoubles();
            positions = constants.positions().value().toDoubles();
        }
        Value summed = tokens.add(graph.constant("positions", List.of(1L, patches, width), positions));
        // A constant has no number of images: 0 times a token has.
        Value zeros = tokens.slice(1, 0, 1).scale(0);
        Value first = graph.constant("prefix", List.of(1L, prefix.length / width, width), prefix);
        return graph.concat(List.of(zeros.add(first), summed), 1);
    }

    private Value block(VisionTransformer.Block block, Value tokens) {
        String name = block.name();
        Value joint = linear(norm(tokens, name + ".norm1", VisionTransformer.EPSILON), name + ".attn.qkv");
        Value attended = tokens.add(scaled(block, "attn.proj", "ls1", attention(joint, block.heads())));
        Value hidden = linear(norm(attended, name + ".norm2", VisionTransformer.EPSILON), name + ".mlp.fc1");
        return attended.add(scaled(block, "mlp.fc2", "ls2", hidden.gelu()));
    }

    private Value scaled(VisionTransformer.Block block, String part, String scale, Value x) {
        Value sums = linear(x, block.name() + "." + part);
        return block.layerScale() ? sums.mul(parameters.value(block.name() + "." + scale + ".gamma")) : sums;
    }

    private Value attention(Value joint, int heads) {
        long width = joint.at(2) / 3;
        long each = width / heads;
        List<Value> parts = Stream.of(0, 1, 2)
                .map(i -> joint.slice(2, i * width, (i + 1) * width))
                .map(part -> part.reshape(joint.at(1), heads, each).permute(0, 2, 1, 3))
                .toList();
        Value scores = parts.get(0)
                .scale(1 / Math.sqrt((double) each))
                .matmul(parts.get(1).transpose());
        Value mixed = scores.softmax(3).matmul(parts.get(2));
        return mixed.permute(0, 2, 1, 3).reshape(joint.at(1), width);
    }

    /** Returns a block of ConvNeXt after its depthwise convolution. */
    private Value convNext(ConvNext.Block block, Value maps, Value mixed) {
        String name = block.name();
        Value rows = mixed.permute(0, 2, 3, 1);
        Value hidden = linear(norm(rows, name + ".block.2", ConvNext.EPSILON), name + ".block.3");
        Value branch = linear(hidden.gelu(), name + ".block.5").permute(0, 3, 1, 2);
        return maps.add(branch.mul(parameters.value(name + ".layer_scale")));
    }

    /** Normalizes the channels of feature maps. */
    private Value channelNorm(ConvNext.ChannelNorm norm, Value maps) {
        Value rows = maps.permute(0, 2, 3, 1);
        return norm(rows, norm.name(), ConvNext.EPSILON).permute(0, 3, 1, 2);
    }

    private Value norm(Value x, String name, double epsilon) {
        return x.layerNorm(parameters.value(name + ".weight"), parameters.value(name + ".bias"), epsilon);
    }

    private Value linear(Value x, String name) {
        return x.matmul(parameters.value(name + ".weight").transpose()).add(parameters.value(name + ".bias"));
    }
}
