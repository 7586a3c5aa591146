package org.gramian.benchmarks;

import java.util.List;
import java.util.OptionalDouble;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.network.Conv;
import org.gramian.backbone.network.ConvNext;
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
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Transform;
import org.gramian.tensor.Shape;

/**
 * Floating-point operations of a workload: those of its convolutions and matrix products, counting a multiply-add as two,
 * ignoring symmetry, elementwise operations and the optimizer.
 *
 * <p>Forward, for one image:
 *
 * <ul>
 *   <li>a convolution of k filters of c·s² inputs at P positions: {@code 2·k·c·s²·P}
 *   <li>a kernel matrix of C maps at N positions: {@code 2·C²·N}
 *   <li>{@code WᵀKW} with W of C×C′: {@code 2·C²·C′ + 2·C·C′²}
 *   <li>a classifier of K classes on descriptors of length d: {@code 2·K·d}
 * </ul>
 *
 * <p>A training step is three times that, since each product has two in its adjoint; twice for the first convolution of a network,
 * since images get no gradient. The paper's head with C = C′ = 512 at 14×14, 47 classes: 0.76 GFLOP an image forward, 72
 * GFLOP a step of 32. Other poolings and networks have no formula and no rate.
 */
final class Operations {
    /** NaN makes every sum unknown. */
    private static final double UNKNOWN = Double.NaN;

    private Operations() {}

    /** Returns the operations of one step with the whole batch; empty without a formula. */
    static OptionalDouble of(BenchWorkload workload, TaskSpec spec) {
        if (!workload.hasHead() && !workload.hasBackbone()) {
            return OptionalDouble.empty();
        }
        double each = 0;
        Shape maps = Shape.of(spec.number("channels"), spec.number("side"), spec.number("side"));
        if (workload.hasBackbone()) {
            Backbone backbone = spec.backbone();
            int pixels = spec.number("pixels");
            Shape images = Shape.of(3, pixels, pixels);
            for (Backbone network : backbone.networks()) {
                List<NetworkLayer> stages = network.stages(NetworkLayer.class);
                double forward = ofStage(new Chain("all", stages), images);
                double first = ofStage(stages.getFirst(), images);
                each += workload.trains() ? 3 * forward - first : forward;
            }
            maps = backbone.features(pixels, pixels);
        }
        if (workload.hasHead()) {
            double forward = ofHead(Pooling.parse(spec.text("pooling")), maps, spec.number("classes"));
            each += workload.trains() ? 3 * forward : forward;
        }
        double all = each * spec.number("batch");
        return Double.isNaN(all) ? OptionalDouble.empty() : OptionalDouble.of(all);
    }

    private static double ofStage(NetworkLayer stage, Shape maps) {
        return switch (stage) {
            case Conv _, Dense _ -> {
                Shape out = stage.output(maps);
                long filters = stage.parameters(maps.at(0)).getFirst().shape().elements();
                yield 2.0 * filters * out.at(1) * out.at(2);
            }
            case Chain chain -> {
                double sum = 0;
                Shape entering = maps;
                for (NetworkLayer part : chain.stages()) {
                    sum += ofStage(part, entering);
                    entering = part.output(entering);
                }
                yield sum;
            }
            case Branches branches ->
                branches.branches().stream()
                        .mapToDouble(branch -> ofStage(branch, maps))
                        .sum();
            case Residual residual -> ofStage(residual.body(), maps) + ofStage(residual.shortcut(), maps);
            case TopDown topDown -> ofStage(topDown.body(), maps);
            case SqueezeExcitation excitation -> ofStage(excitation.gate(), maps);
            case Patches _, ConvNext.Block _ -> ofWeights(stage, maps.at(0), stage.output(maps));
            case VisionTransformer.Block block -> {
                double tokens = (double) maps.at(1) * maps.at(2);
                yield ofWeights(block, maps.at(0), maps) + 4 * tokens * tokens * maps.at(0);
            }
            case VisionTransformer.TokenLayer _, VisionTransformer.ClassToken _, ConvNext.ChannelNorm _ -> 0;
            case Pool _, ResponseNormalization _ -> 0;
            case FilterBank _, OnnxStage _ -> UNKNOWN;
            case NetworkLayer.Fused fused -> ofStage(fused.plain(), maps);
        };
    }

    /** Returns 2 operations per weight and position of the output. */
    private static double ofWeights(NetworkLayer stage, long channels, Shape out) {
        return stage.parameters(channels).stream()
                .filter(spec -> spec.role() == Role.WEIGHT)
                .mapToDouble(spec -> 2.0 * spec.shape().elements() * out.at(1) * out.at(2))
                .sum();
    }

    /** Returns the operations of a head on feature maps {@code [c, h, w]}. */
    private static double ofHead(Pooling pooling, Shape maps, int classes) {
        double positions = (double) maps.at(1) * maps.at(2);
        long channels = maps.at(0);
        double sum = 2.0 * classes * pooling.descriptorSize(channels);
        for (Reduction reduction : pooling.reductions()) {
            long leaving = reduction.outputs(channels);
            sum += reduction instanceof Reduction.Conv ? 2.0 * leaving * channels * positions : UNKNOWN;
            channels = leaving;
        }
        return sum
                + switch (pooling.aggregation()) {
                    case SecondOrder second -> ofSecondOrder(second, channels, positions);
                    case Average _ -> 0;
                    default -> UNKNOWN;
                };
    }

    private static double ofSecondOrder(SecondOrder second, long channels, double positions) {
        double size = second.kernel().size(channels);
        double sum = 2 * size * size * positions;
        for (Transform transform : second.transforms()) {
            switch (transform) {
                case Transform.Spd spd -> {
                    sum += 2 * size * size * spd.size() + 2 * size * spd.size() * spd.size();
                    size = spd.size();
                }
                case Transform.Relu _ -> {}
                default -> sum = UNKNOWN;
            }
        }
        return sum;
    }
}
