package org.gramian.backbone.network;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.autodiff.network.Interpolation.Bicubic;
import org.gramian.autodiff.network.Tokens;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Dense;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;

/**
 * Vision transformer (Dosovitskiy et al., "An Image is Worth 16x16 Words", ICLR 2021) with the registers of Darcet et
 * al. ("Vision Transformers Need Registers", ICLR 2024) and the layer scale of Touvron et al. ("Going Deeper with Image
 * Transformers", ICCV 2021) as DINOv2 uses them (Oquab et al., TMLR 2024).
 *
 * <p>Layers: {@code patch_embed} (maps), the blocks {@code blocks.0}, …, the layer norm {@code norm}, the class token
 * {@code cls} {@code [d, 1, 1]} and {@code logits} if there is a classifier. Between blocks the state is tokens {@code
 * [n, 1 + r + h·w, d]}: the class token, r registers and one token per patch. The feature maps {@code [n, d, h, w]} of
 * a block are its patch tokens. Parameters have the names of DINOv2 and timm.
 *
 * <p>Any image size of at least one patch is possible: position embeddings are resized, and rows and columns after the
 * last whole patch are ignored.
 */
public record VisionTransformer(int width, int heads, int blocks, int patch, Positions positions, Extras extras) {
    /** ε of all layer norms. */
    public static final double EPSILON = 1e-6;

    /** Ratio of the widths of the hidden layer and the tokens. */
    private static final int EXPANSION = 4;

    private static final Initializer SMALL = Initializer.gaussian(0.02);

    /** Position embeddings of a square grid of patches and the class token. */
    public record Positions(int side, Bicubic resizing) {}

    /**
     * Parts that not every vision transformer has.
     *
     * @param classes number of class scores; 0 without a classifier
     */
    public record Extras(int registers, boolean layerScale, int classes) {}

    public List<NetworkLayer> stages() {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Chain.of("patch_embed", new Patches("patch_embed.proj", width, patch)));
        for (int i = 0; i < blocks; i++) {
            String name = "blocks." + i;
            Block block = new Block(name, heads, extras.layerScale);
            stages.add(i == 0 ? Chain.of(name, new Embedding("embed", positions, extras.registers), block) : block);
        }
        stages.add(new Norm("norm"));
        stages.add(new ClassToken("cls"));
        if (extras.classes > 0) {
            stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("head", extras.classes, 1, Activation.NONE)));
        }
        return stages;
    }

    /** Layer whose output is tokens {@code [n, t, d]}, the last {@code h·w} of which are patches in row-major order. */
    public sealed interface TokenLayer extends NetworkLayer {
        @Override
        default Var features(Var state, Shape maps) {
            long tokens = state.shape().at(1);
            Var patches = state.slice(1, tokens - maps.at(1) * maps.at(2), tokens);
            return Tokens.toMaps(patches.split(1, maps.at(1), maps.at(2)));
        }

        @Override
        default boolean passesMaps() {
            return false;
        }
    }

    /**
     * Adds position embeddings to feature maps and prepends class token and registers.
     *
     * <p>Parameters: {@code cls_token [1, 1, d]}, {@code pos_embed [1, 1 + side², d]} and, with registers, {@code
     * register_tokens [1, r, d]}, which have no position.
     */
    public record Embedding(String name, Positions positions, int registers) implements TokenLayer {
        @Override
        public List<ParameterSpec> parameters(long entering) {
            List<ParameterSpec> all = new ArrayList<>();
            all.add(new ParameterSpec("cls_token", Shape.of(1, 1, entering), Role.BIAS, SMALL));
            Shape grid = Shape.of(1, 1 + (long) positions.side * positions.side, entering);
            all.add(new ParameterSpec("pos_embed", grid, Role.BIAS, SMALL));
            if (registers > 0) {
                all.add(new ParameterSpec("register_tokens", Shape.of(1, registers, entering), Role.BIAS, SMALL));
            }
            return all;
        }

        @Override
        public Var apply(Var maps, Bindings parameters) {
            Shape shape = maps.shape();
            DType type = maps.value().type();
            Constants constants = constants(parameters::get, shape.at(2), shape.at(3));
            Var patches = Tokens.fromMaps(maps)
                    .reshape(shape.at(0), constants.positions.shape().at(1), shape.at(1));
            Var placed = patches.add(constants.positions.to(type));
            Var first = constants.prefix.to(type).expand(shape.at(0), 1L + registers, shape.at(1));
            return Var.concat(List.of(first, placed), 1);
        }

        /**
         * Values that are the same for all images of a size.
         *
         * @param prefix class token with its position, and registers {@code [1, 1 + r, d]}
         * @param positions embeddings of the patches {@code [1, h·w, d]}
         */
        public record Constants(Var prefix, Var positions) {}

        /** Computes the constants for a grid of patches. */
        public Constants constants(Function<String, Var> parameters, long height, long width) {
            Var all = parameters.apply("pos_embed");
            Var square = all.slice(1, 1, all.shape().at(1)).split(1, positions.side, positions.side);
            Var grid = Interpolation.resize(Tokens.toMaps(square), height, width, positions.resizing);
            Var first = parameters.apply("cls_token").add(all.slice(1, 0, 1));
            return new Constants(
                    registers == 0 ? first : Var.concat(List.of(first, parameters.apply("register_tokens")), 1),
                    Tokens.fromMaps(grid).reshape(1, height * width, all.shape().at(2)));
        }
    }

    /**
     * Transformer block with norms before its branches: {@code y = x + γ₁·attention(norm₁(x))}, then {@code y +
     * γ₂·mlp(norm₂(y))} with {@code mlp(x) = W₂·gelu(W₁·x + b₁) + b₂}; without layer scale γ is 1.
     *
     * <p>Parameters under the name: {@code norm1}, {@code attn.qkv}, {@code attn.proj}, {@code norm2}, {@code mlp.fc1} and {@code mlp.fc2}
     * with {@code weight} and {@code bias} each, and {@code ls1.gamma} and {@code ls2.gamma}. Layer scale is
     * multiplied into the weights: {@code γ·(W·x + b) = (γ·W)·x + γ·b}.
     */
    public record Block(String name, int heads, boolean layerScale) implements TokenLayer {
        @Override
        public List<ParameterSpec> parameters(long entering) {
            List<ParameterSpec> all = new ArrayList<>(Patches.norm(name + ".norm1", entering));
            all.addAll(linear("attn.qkv", 3 * entering, entering));
            all.addAll(linear("attn.proj", entering, entering));
            all.addAll(Patches.norm(name + ".norm2", entering));
            all.addAll(linear("mlp.fc1", EXPANSION * entering, entering));
            all.addAll(linear("mlp.fc2", entering, EXPANSION * entering));
            if (layerScale) {
                for (String part : List.of(".ls1.gamma", ".ls2.gamma")) {
                    all.add(new ParameterSpec(name + part, Shape.of(entering), Role.BIAS, Initializer.constant(1e-5)));
                }
            }
            return all;
        }

        /** Two norms, joint queries, keys and values, attention, two projections and sums, and the hidden layer twice. */
        @Override
        public long activations(Shape maps) {
            return (2 + 3 + 1 + 4 + 2 * EXPANSION) * maps.elements();
        }

        private List<ParameterSpec> linear(String part, long leaving, long entering) {
            return Patches.linear(name + "." + part, leaving, entering);
        }

        @Override
        public Var apply(Var tokens, Bindings parameters) {
            Bindings own = parameters.under(name);
            Var joint = projection("attn.qkv", own).apply(norm(tokens, own.under("norm1")));
            Var values = Tokens.selfAttention(joint, heads);
            Var attended = tokens.add(projection("attn.proj", own).apply(values));
            Var hidden = projection("mlp.fc1", own).apply(norm(attended, own.under("norm2")));
            Var activated = Tokens.gelu(hidden, Gelu.ERF);
            return attended.add(projection("mlp.fc2", own).apply(activated));
        }

        /** Returns a linear layer of the block. */
        public Projection projection(String part, Bindings own) {
            Projection exact = Projection.of(own.under(part));
            return switch (part) {
                case "attn.proj" -> layerScale ? exact.scaled(own.get("ls1.gamma")) : exact;
                case "mlp.fc2" -> layerScale ? exact.scaled(own.get("ls2.gamma")) : exact;
                default -> exact;
            };
        }
    }

    /**
     * Linear layer {@code W·x + b}.
     *
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     */
    public record Projection(Var weight, Var bias) {
        static Projection of(Bindings own) {
            return new Projection(own.get("weight"), own.get("bias"));
        }

        /** Returns {@code γ·(W·x + b)}. */
        Projection scaled(Var gamma) {
            Var column = gamma.reshape(gamma.shape().elements(), 1);
            Var row = gamma.reshape(gamma.shape().elements());
            return new Projection(weight.mul(column), bias.mul(row));
        }

        Var apply(Var x) {
            return Tokens.linear(x, weight, bias);
        }
    }

    static Var norm(Var tokens, Bindings own) {
        return Tokens.layerNorm(tokens, own.get("weight"), own.get("bias"), EPSILON);
    }

    public record Norm(String name) implements TokenLayer {
        @Override
        public List<ParameterSpec> parameters(long entering) {
            return Patches.norm(name, entering);
        }

        @Override
        public Var apply(Var tokens, Bindings parameters) {
            return norm(tokens, parameters.under(name));
        }
    }

    /** Class token, the first token, as feature maps {@code [n, d, 1, 1]}. */
    public record ClassToken(String name) implements NetworkLayer {
        @Override
        public Shape output(Shape maps) {
            return Shape.of(maps.at(0), 1, 1);
        }

        @Override
        public Var apply(Var tokens, Bindings parameters) {
            Shape shape = tokens.shape();
            return tokens.slice(1, 0, 1).reshape(shape.at(0), shape.at(2), 1, 1);
        }
    }
}
