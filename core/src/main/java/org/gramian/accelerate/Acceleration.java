package org.gramian.accelerate;

import java.util.Optional;
import org.gramian.autodiff.Layer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Tail;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.NetworkTail;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.cuda.SideStream;

/** Rewrites models by the enabled {@linkplain Rule rules}. */
public final class Acceleration {
    private Acceleration() {}

    /**
     * Returns a layer that computes the descriptors of a pooling.
     *
     * @param pooling plain definition
     * @return layer with the parameters, values and gradients of the pooling
     */
    public static Layer rewrite(Pooling pooling) {
        if (pooling.aggregation() instanceof NetworkTail(Optional<Tail> tail)) {
            Aggregation fused = new NetworkTail(tail.map(each -> each.rewritten(FusedLayers::rewrite)));
            return new Pooling(pooling.reductions(), fused, pooling.normalizations());
        }
        return FusedDescriptor.match(pooling).<Layer>map(fused -> fused).orElse(pooling);
    }

    /**
     * Returns a backbone whose layers are fused where rules apply.
     *
     * @param backbone plain definition
     * @return backbone with the same parameters, values and gradients
     */
    public static Backbone rewrite(Backbone backbone) {
        return backbone.rewritten(FusedLayers::rewrite);
    }

    /** Returns what orders the backward pass of a step on a device: a second stream while the step is captured. */
    public static Scheduler scheduler(Device device) {
        return Rule.SIDE_STREAM.isEnabled() ? SideStream.openInCapture(device) : Scheduler.SEQUENTIAL;
    }
}
