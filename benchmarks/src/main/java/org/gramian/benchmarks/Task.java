package org.gramian.benchmarks;

import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.tensor.Device;

/**
 * Task of a worker, passed to it as JSON; {@code worker.py} reads the same fields.
 *
 * @param workload {@code head}, {@code backbone} or {@code network} (both), with {@code -forward} or {@code -training}; a backbone alone is
 *     trained on the mean of its feature maps, without an optimizer
 * @param precision {@code f32}, {@code tf32}, or {@code bf16}: convolutions and tokens of the backbone in bfloat16, the rest as
 *     {@code tf32} on a GPU
 * @param pooling of the head
 * @param backbone name, cut at its default layer
 * @param channels of the feature maps of a head without a backbone
 * @param side height and width of these feature maps
 * @param pixels height and width of the images
 */
record Task(
        String workload,
        int batch,
        String precision,
        String device,
        int threads,
        String pooling,
        String backbone,
        int channels,
        int side,
        int pixels,
        int classes) {
    boolean hasHead() {
        return !workload.startsWith("backbone");
    }

    boolean hasBackbone() {
        return !workload.startsWith("head");
    }

    boolean trains() {
        return workload.endsWith("-training");
    }

    boolean bfloat16() {
        return precision.equals("bf16");
    }

    Device torchDevice() {
        return Device.parse(device);
    }

    Backbone network() {
        return WeightStore.ofProcess().backbone(backbone);
    }
}
