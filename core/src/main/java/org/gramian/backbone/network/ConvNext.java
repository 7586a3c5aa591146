package org.gramian.backbone.network;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.Tokens;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Dense;
import org.gramian.backbone.network.NetworkLayer.Pool;
import org.gramian.backbone.network.VisionTransformer.Projection;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;

/**
 * ConvNeXt (Liu et al., "A ConvNet for the 2020s", CVPR 2022, section 3) under torchvision's names: the stem {@code
 * features.0}, blocks {@code features.1.0}, …, and halvings {@code features.2}, {@code features.4} and {@code
 * features.6}, then {@code avgpool} and {@code logits} (a layer norm and a linear layer, parameters {@code
 * classifier}). The last block of each group has the name of the group, such as {@code features.7}.
 */
public final class ConvNext {
    /** ε of all layer norms. */
    public static final double EPSILON = 1e-6;

    /** Depthwise convolution of a block. */
    public static final ConvolutionKernel DEPTHWISE = new ConvolutionKernel(7, 1, Border.HALF, true);

    private static final int EXPANSION = 4;

    private ConvNext() {}

    /**
     * Returns the layers in order.
     *
     * @param width channels of the first group, doubled for each further group
     */
    public static List<NetworkLayer> stages(int width, int... blocks) {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Chain.of("features.0", new Patches("features.0.0", width, 4), new ChannelNorm("features.0.1")));
        for (int group = 0; group < blocks.length; group++) {
            String name = "features." + (2 * group + 1);
            for (int i = 0; i < blocks[group]; i++) {
                Block block = new Block(name + "." + i);
                stages.add(i == blocks[group] - 1 ? Chain.of(name, block) : block);
            }
            if (group < blocks.length - 1) {
                String halving = "features." + (2 * group + 2);
                stages.add(Chain.of(
                        halving,
                        new ChannelNorm(halving + ".0"),
                        new Patches(halving + ".1", width << (group + 1), 2)));
            }
        }
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(
                NetworkLayer.LOGITS,
                new ChannelNorm("classifier.0"),
                new Dense("classifier.2", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Block {@code x + γ·W₂·gelu(W₁·norm(depthwise(x)) + b₁) + γ·b₂} with a depthwise 7×7 convolution and a layer norm
     * over channels.
     *
     * <p>Parameters under the name: {@code block.0} (convolution), {@code block.2} (norm), {@code block.3} and {@code
     * block.5} (linear layers) with {@code weight} and {@code bias} each, and {@code layer_scale [c, 1, 1]}.
     */
    public record Block(String name) implements NetworkLayer {
        @Override
        public List<ParameterSpec> parameters(long entering) {
            Shape filters = Shape.of(entering, 1, DEPTHWISE.size(), DEPTHWISE.size());
            List<ParameterSpec> all = new ArrayList<>();
            all.add(new ParameterSpec(
                    name + ".layer_scale", Shape.of(entering, 1, 1), Role.BIAS, Initializer.constant(1e-6)));
            all.add(new ParameterSpec(name + ".block.0.weight", filters, Role.WEIGHT, Initializer.he()));
            all.add(new ParameterSpec(name + ".block.0.bias", Shape.of(entering), Role.BIAS, Initializer.constant(0)));
            all.addAll(Patches.norm(name + ".block.2", entering));
            all.addAll(Patches.linear(name + ".block.3", EXPANSION * entering, entering));
            all.addAll(Patches.linear(name + ".block.5", entering, EXPANSION * entering));
            return all;
        }

        /** Convolution, norm, projection and sum, and the hidden layer twice. */
        @Override
        public long activations(Shape maps) {
            return (4 + 2 * EXPANSION) * maps.elements();
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Bindings own = parameters.under(name);
            Bindings block = own.under("block");
            Var mixed = FeatureMaps.convolve(
                    maps,
                    block.get("0.weight"),
                    block.get("0.bias"),
                    DEPTHWISE.convolution(maps.shape().at(1)));
            Var normal = VisionTransformer.norm(Tokens.fromMaps(mixed), block.under("2"));
            Var hidden = Tokens.gelu(Projection.of(block.under("3")).apply(normal), Gelu.ERF);
            Var branch = Projection.of(block.under("5"))
                    .scaled(own.get("layer_scale"))
                    .apply(hidden);
            return maps.add(Tokens.toMaps(branch));
        }
    }

    /** Layer norm over the channels of each position. */
    public record ChannelNorm(String name) implements NetworkLayer {
        @Override
        public List<ParameterSpec> parameters(long entering) {
            return Patches.norm(name, entering);
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Bindings own = parameters.under(name);
            return Tokens.layerNormOfChannels(maps, own.get("weight"), own.get("bias"), EPSILON);
        }
    }
}
