package org.gramian.accelerate;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.gramian.autodiff.Layer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.ClassifierTail;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.NetworkLayer.Branches;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Pool;
import org.gramian.backbone.network.NetworkLayer.Residual;
import org.gramian.backbone.network.NetworkLayer.SqueezeExcitation;
import org.gramian.backbone.network.NetworkLayer.TopDown;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.NetworkTail;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.cuda.SideStream;

/** Rewrites models by the enabled {@linkplain Rule rules}. */
public final class Acceleration {
    private Acceleration() {}

    /**
     * Returns a layer that computes the descriptors of a pooling.
     *
     * @return layer with the parameters, values and gradients of the pooling
     */
    public static Layer rewrite(Pooling pooling) {
        if (pooling.aggregation() instanceof NetworkTail(Optional<ClassifierTail> tail)) {
            Aggregation fused = new NetworkTail(tail.map(each -> each.rewritten(Acceleration::rewriteAll)));
            return new Pooling(pooling.reductions(), fused, pooling.normalizations());
        }
        return FusedDescriptor.match(pooling).<Layer>map(fused -> fused).orElse(pooling);
    }

    /**
     * Returns a backbone whose layers are fused where rules apply.
     *
     * @return backbone with the same parameters, values and gradients
     */
    public static Backbone rewrite(Backbone backbone) {
        return backbone.rewritten(Acceleration::rewriteAll);
    }

    /** Returns what orders the backward pass of a step on a device: a second stream while the step is captured. */
    public static Scheduler scheduler(Device device) {
        return Rule.SIDE_STREAM.isEnabled() ? SideStream.openInCapture(device) : Scheduler.SEQUENTIAL;
    }

    /**
     * Rewrites layers in sequence.
     *
     * @param isFeature whether the output of a layer is needed
     */
    static List<NetworkLayer> rewriteAll(List<NetworkLayer> layers, Predicate<NetworkLayer> isFeature) {
        List<NetworkLayer> fused = new ArrayList<>();
        for (int i = 0; i < layers.size(); i++) {
            if (Rule.CONVOLUTION.isEnabled()
                    && i + 1 < layers.size()
                    && layers.get(i) instanceof Conv conv
                    && layers.get(i + 1) instanceof Pool pool
                    && pool.kind() == Pool.Kind.MAX
                    && !conv.finish().activation().needsInput()
                    && !isFeature.test(conv)) {
                fused.add(new FusedConvolution.Single(Chain.of(pool.name(), conv, pool), conv, pool.window()));
                i++;
            } else {
                fused.add(rewrite(layers.get(i)));
            }
        }
        return fused;
    }

    private static NetworkLayer rewrite(NetworkLayer layer) {
        return switch (layer) {
            case Conv conv when Rule.CONVOLUTION.isEnabled() -> new FusedConvolution.Single(conv, conv, null);
            case Chain chain -> rewrite(chain);
            case Branches branches ->
                new Branches(
                        branches.name(),
                        branches.branches().stream().map(Acceleration::rewrite).toList());
            case Residual residual -> rewrite(residual);
            case TopDown topDown -> new TopDown(topDown.name(), rewrite(topDown.body()), topDown.activation());
            case SqueezeExcitation excitation -> new SqueezeExcitation(excitation.name(), rewrite(excitation.gate()));
            case VisionTransformer.Block block when Rule.TOKENS.isEnabled() -> new FusedTokens(block);
            case VisionTransformer.Norm norm when Rule.TOKENS.isEnabled() -> new FusedTokens.Norm(norm);
            default -> layer;
        };
    }

    private static Chain rewrite(Chain chain) {
        return new Chain(chain.name(), rewriteAll(chain.stages(), _ -> false));
    }

    private static NetworkLayer rewrite(Residual residual) {
        Chain shortcut = rewrite(residual.shortcut());
        List<NetworkLayer> body = residual.body().stages();
        if (Rule.CONVOLUTION.isEnabled()
                && !body.isEmpty()
                && body.getLast() instanceof Conv last
                && last.finish().activation() == Activation.NONE
                && !residual.activation().needsInput()) {
            Chain before = rewrite(new Chain(residual.body().name(), body.subList(0, body.size() - 1)));
            return new FusedConvolution.Sum(residual, before, last, shortcut);
        }
        return new Residual(residual.name(), rewrite(residual.body()), shortcut, residual.activation());
    }
}
