package org.gramian.cli;

import org.gramian.benchmarks.BenchPlan;
import picocli.CommandLine.Option;

/** Options of {@code gramian bench}: what is computed; the paper's sizes unless told otherwise. */
final class BenchSizes {
    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            defaultValue = "conv:512/rbf/spd:512/relu/triu/root/l2",
            description =
                    "pooling of the head; for PyTorch only conv, rbf, spd, relu, triu, root, l2 (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String pooling;

    @Option(
            names = "--backbone",
            paramLabel = "NAME",
            defaultValue = "vgg16",
            description = "backbone; for PyTorch only vgg16 and vgg19 (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String backbone;

    @Option(
            names = "--channels",
            paramLabel = "N",
            defaultValue = "512",
            description = "channels of the head's input (default: ${DEFAULT-VALUE})")
    private int channels;

    @Option(
            names = "--side",
            paramLabel = "N",
            defaultValue = "14",
            description = "height and width of these feature maps (default: ${DEFAULT-VALUE})")
    private int side;

    @Option(
            names = "--pixels",
            paramLabel = "N",
            defaultValue = "224",
            description = "image size (default: ${DEFAULT-VALUE})")
    private int pixels;

    @Option(
            names = "--classes",
            paramLabel = "N",
            defaultValue = "47",
            description = "classes (default: ${DEFAULT-VALUE})")
    private int classes;

    BenchPlan.Sizes sizes() {
        return new BenchPlan.Sizes(pooling, backbone, channels, side, pixels, classes);
    }
}
