package org.gramian.export.graph;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.network.ConvNext;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.backbone.network.VisionTransformer.Block;
import org.gramian.backbone.network.VisionTransformer.Embedding;
import org.gramian.backbone.network.VisionTransformer.TokenLayer;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;

/**
 * Layers of transformers as operators: tokens {@code [n, t, d]} to tokens. Layer norm and GELU are written as formulas,
 * which every operator set has and runtimes fuse.
 *
 * @param graph to which nodes are added
 * @param parameters parameters of the network, under its own names
 */
record TokenLowering(Graph graph, HostParameters parameters) {
    private TokenLowering at(String part) {
        return new TokenLowering(graph.at(part), parameters);
    }

    /** Lowers a layer. */
    Value lower(TokenLayer layer, Value state) {
        TokenLowering part = at(layer.name());
        return switch (layer) {
            case Embedding embedding -> part.embedding(embedding, state);
            case Block block -> part.block(block, state);
            case VisionTransformer.Norm norm -> part.norm(state, norm.name(), VisionTransformer.EPSILON);
        };
    }

    /** Returns the patch tokens as feature maps, as {@link TokenLayer#features}. */
    Value features(Value tokens, Shape maps) {
        long end = tokens.at(1);
        Value patches = graph.slice(tokens, 1, end - maps.at(1) * maps.at(2), end);
        return graph.reshape(graph.transpose(patches), maps.at(0), maps.at(1), maps.at(2));
    }

    /** Returns the first token as feature maps {@code [n, d, 1, 1]}. */
    Value classToken(Value tokens) {
        return graph.reshape(graph.slice(tokens, 1, 0, 1), tokens.at(2), 1, 1);
    }

    private Value embedding(Embedding embedding, Value maps) {
        long width = maps.at(1);
        long patches = maps.at(2) * maps.at(3);
        Value tokens = graph.transpose(graph.reshape(maps, width, patches));
        double[] prefix;
        double[] positions;
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Embedding.Constants constants = embedding.constants(
                    name -> tape.constant(parameters.get(name).toTensor()), maps.at(2), maps.at(3));
            prefix = constants.prefix().value().toDoubles();
            positions = constants.positions().value().toDoubles();
        }
        Value summed = graph.add(tokens, graph.constant("positions", List.of(1L, patches, width), positions));
        // A constant has no number of images: 0 times a token has.
        Value zeros = graph.scale(graph.slice(tokens, 1, 0, 1), 0);
        Value first = graph.constant("prefix", List.of(1L, prefix.length / width, width), prefix);
        return graph.concat(List.of(graph.add(zeros, first), summed), 1);
    }

    private Value block(Block block, Value tokens) {
        String name = block.name();
        Value joint = linear(norm(tokens, name + ".norm1", VisionTransformer.EPSILON), name + ".attn.qkv");
        Value attended = graph.add(tokens, scaled(block, "attn.proj", "ls1", attention(joint, block.heads())));
        Value hidden = linear(norm(attended, name + ".norm2", VisionTransformer.EPSILON), name + ".mlp.fc1");
        return graph.add(attended, scaled(block, "mlp.fc2", "ls2", graph.gelu(hidden)));
    }

    private Value scaled(Block block, String part, String scale, Value x) {
        Value sums = linear(x, block.name() + "." + part);
        return block.layerScale() ? graph.mul(sums, parameter(block.name() + "." + scale + ".gamma")) : sums;
    }

    private Value attention(Value joint, int heads) {
        long width = joint.at(2) / 3;
        long each = width / heads;
        List<Value> parts = Stream.of(0, 1, 2)
                .map(i -> graph.slice(joint, 2, i * width, (i + 1) * width))
                .map(part -> graph.permute(graph.reshape(part, joint.at(1), heads, each), 0, 2, 1, 3))
                .toList();
        Value scores =
                graph.matmul(graph.scale(parts.get(0), 1 / Math.sqrt((double) each)), graph.transpose(parts.get(1)));
        Value mixed = graph.matmul(graph.softmax(scores, 3), parts.get(2));
        return graph.reshape(graph.permute(mixed, 0, 2, 1, 3), joint.at(1), width);
    }

    /** Returns a block of ConvNeXt after its depthwise convolution. */
    Value convNext(ConvNext.Block block, Value maps, Value mixed) {
        String name = block.name();
        Value rows = graph.permute(mixed, 0, 2, 3, 1);
        Value hidden = linear(norm(rows, name + ".block.2", ConvNext.EPSILON), name + ".block.3");
        Value branch = graph.permute(linear(graph.gelu(hidden), name + ".block.5"), 0, 3, 1, 2);
        return graph.add(maps, graph.mul(branch, parameter(name + ".layer_scale")));
    }

    /** Normalizes the channels of feature maps. */
    Value channelNorm(ConvNext.ChannelNorm norm, Value maps) {
        Value rows = graph.permute(maps, 0, 2, 3, 1);
        return graph.permute(norm(rows, norm.name(), ConvNext.EPSILON), 0, 3, 1, 2);
    }

    private Value norm(Value x, String name, double epsilon) {
        return graph.layerNorm(x, parameter(name + ".weight"), parameter(name + ".bias"), epsilon);
    }

    private Value linear(Value x, String name) {
        Value product = graph.matmul(x, graph.transpose(parameter(name + ".weight")));
        return graph.add(product, parameter(name + ".bias"));
    }

    private Value parameter(String name) {
        return graph.parameter(parameters, name);
    }
}
