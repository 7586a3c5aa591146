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
    Value lower(TokenLayer layer, Value state) {
        return switch (layer) {
            case Embedding embedding -> embedding(embedding, state);
            case Block block -> block(block, state);
            case VisionTransformer.Norm norm -> norm(state, norm.name(), VisionTransformer.EPSILON);
        };
    }

    /** Returns the patch tokens as feature maps, as {@link TokenLayer#features}. */
    static Value features(Value tokens, Shape maps) {
        long end = tokens.at(1);
        Value patches = tokens.slice(1, end - maps.at(1) * maps.at(2), end);
        return patches.transpose().reshape(maps.at(0), maps.at(1), maps.at(2));
    }

    /** Returns the first token as feature maps {@code [n, d, 1, 1]}. */
    static Value classToken(Value tokens) {
        return tokens.slice(1, 0, 1).reshape(tokens.at(2), 1, 1);
    }

    private Value embedding(Embedding embedding, Value maps) {
        long width = maps.at(1);
        long patches = maps.at(2) * maps.at(3);
        Value tokens = maps.reshape(width, patches).transpose();
        double[] prefix;
        double[] positions;
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Embedding.Constants constants = embedding.constants(
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

    private Value block(Block block, Value tokens) {
        String name = block.name();
        Value joint = linear(norm(tokens, name + ".norm1", VisionTransformer.EPSILON), name + ".attn.qkv");
        Value attended = tokens.add(scaled(block, "attn.proj", "ls1", attention(joint, block.heads())));
        Value hidden = linear(norm(attended, name + ".norm2", VisionTransformer.EPSILON), name + ".mlp.fc1");
        return attended.add(scaled(block, "mlp.fc2", "ls2", hidden.gelu()));
    }

    private Value scaled(Block block, String part, String scale, Value x) {
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
    Value convNext(ConvNext.Block block, Value maps, Value mixed) {
        String name = block.name();
        Value rows = mixed.permute(0, 2, 3, 1);
        Value hidden = linear(norm(rows, name + ".block.2", ConvNext.EPSILON), name + ".block.3");
        Value branch = linear(hidden.gelu(), name + ".block.5").permute(0, 3, 1, 2);
        return maps.add(branch.mul(parameters.value(name + ".layer_scale")));
    }

    /** Normalizes the channels of feature maps. */
    Value channelNorm(ConvNext.ChannelNorm norm, Value maps) {
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
