package org.gramian.train.feature;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * If this fails because a network computes something else on purpose, raise {@link FeatureExtractor#NETWORKS}, so that no
 * feature of the former arithmetic is used again, and put the new numbers here.
 */
class NetworksTest {
    private static final String ADVICE =
            "features of %s; if they were changed on purpose, raise FeatureExtractor.NETWORKS";
    private static final int VERSION = 1;
    private static final int SIDE = 64;
    private static final int BATCH = 2;

    /** Mean, root of the mean square, and two projections of the features of {@link #SIDE}×{@link #SIDE} pixels. */
    private static final Map<String, double[]> FEATURES = Map.ofEntries(
            Map.entry("vgg16", new double[] {0.5457151, 0.9807281, 0.4299143, -1.314091}),
            Map.entry("vgg19", new double[] {0.4621515, 0.8099207, 0.2920703, 0.8360483}),
            Map.entry("resnet18", new double[] {6.138327, 9.982702, -16.05579, 22.40809}),
            Map.entry("resnet50", new double[] {105.7241, 162.0426, 87.6769, -43.57981}),
            Map.entry("googlenet", new double[] {0.5860811, 1.087818, -0.07738302, 0.07696713}),
            Map.entry("squeezenet", new double[] {0.3461629, 0.621581, 0.1649232, -0.05283434}),
            Map.entry("efficientnet-lite4", new double[] {0.2955616, 5.232656, 3.23896, 3.670083}),
            Map.entry("resnet50-v1", new double[] {90.30748, 137.7503, 74.16779, 24.43085}),
            Map.entry("convnext_tiny", new double[] {0.01054193, 2.89617, -0.7320309, 1.714553}),
            Map.entry("convnext_small", new double[] {0.02385022, 2.854987, -2.681738, 2.358826}),
            Map.entry("convnext_base", new double[] {-0.03052632, 2.82833, 1.588083, -0.6316407}),
            Map.entry("vit-s16", new double[] {0.00871137, 1.001138, 0.1795931, -0.1257426}),
            Map.entry("vit-b16", new double[] {-0.007484202, 1.023881, 0.5413757, -0.6970723}),
            Map.entry("dinov2-vits14", new double[] {0.005945263, 0.9790833, 0.3809226, 0.04876015}),
            Map.entry("dinov2-vits14-reg", new double[] {0.004463804, 0.9797866, 0.6620158, 0.5153458}),
            Map.entry("dinov2-vitb14", new double[] {-0.00793687, 1.018461, -0.1699044, 1.499468}),
            Map.entry("dinov2-vitb14-reg", new double[] {-0.008159712, 1.019071, -0.3032894, -0.4367479}),
            Map.entry("mobilenet_v3_large", new double[] {-0.008492267, 0.8271401, -0.04595526, -1.325227}),
            Map.entry("efficientnet_v2_s", new double[] {-0.001847166, 0.6472007, 0.02484116, 0.5126964}),
            Map.entry("gramian-s", new double[] {4.842582, 8.292058, 0.6092311, -5.226077}),
            Map.entry("filters", new double[] {0.114075, 0.1559573, -0.02224284, -0.01280853}));

    /** One of each kind, or under {@code ./verify --full} all. */
    static List<String> names() {
        return Backbones.names().stream()
                .filter(name -> Boolean.getBoolean("gramian.full")
                        || Set.of("convnext_tiny", "vit-s16").contains(name)
                        || Backbone.of(name).parameterCount() < 15_000_000)
                .toList();
    }

    @Test
    void goldenValuesBelongToTheVersion() {
        assertThat(FeatureExtractor.NETWORKS)
                .as("the version that the numbers of this test belong to")
                .isEqualTo(VERSION);
    }

    @ParameterizedTest
    @MethodSource("names")
    void featuresOfEveryBackboneMatchTheirVersion(String name) {
        double[] found = summary(features(Backbone.of(name)));
        double[] expected = Objects.requireNonNull(FEATURES.get(name), () -> name + " " + Arrays.toString(found));
        for (int i = 0; i < found.length; i++) {
            assertThat(found[i]).as(ADVICE, name).isCloseTo(expected[i], within(1e-4 * expected[1]));
        }
    }

    private static float[] features(Backbone backbone) {
        // He's factor is for ReLU: with it the features of forty SiLU blocks grow to 6,000, and rounding decides them
        double scale = backbone.name().equals("efficientnet_v2_s") ? Math.sqrt(0.5) : 1;
        List<ParameterSpec> specs =
                backbone.parameters().stream().map(spec -> fixed(spec, scale)).toList();
        try (Scope _ = Scope.open();
                FrozenBackbone network = new FrozenBackbone(
                        backbone,
                        ParameterSet.initialize(specs, new SplittableRandom(0), DType.F32, Device.CPU),
                        backbone.preprocessing(),
                        "fixed",
                        Device.CPU)) {
            Shape images = Shape.of(BATCH, 3, SIDE, SIDE);
            float[] features = new float
                    [Math.toIntExact(BATCH * backbone.features(SIDE, SIDE).elements())];
            MemorySegment target = MemorySegment.ofArray(features);
            new FeatureExtractor(network, BATCH, DType.F32)
                    .compute(Tensors.of(uniform("pictures", images, -1, 1), images, DType.F32), target);
            return target.toArray(JAVA_FLOAT);
        }
    }

    /** None neutral, all decided by the name alone: neither order nor first values of parameters matter. */
    private static ParameterSpec fixed(ParameterSpec spec, double scale) {
        String name = spec.name();
        Shape shape = spec.shape();
        double spread = scale * Math.sqrt(6.0 * shape.at(0) / shape.elements()); // keeps the size of rectified maps
        Initializer initial = switch (spec.role()) {
            case WEIGHT, STIEFEL -> from(name, -spread, spread);
            case BIAS -> name.endsWith("bias") ? from(name, -0.2, 0.2) : from(name, 0.7, 1.3);
            case FITTED ->
                name.endsWith("running_var")
                        ? from(name, 0.5, 2)
                        : name.endsWith("running_mean") ? from(name, -0.2, 0.2) : spec.initial();
        };
        return new ParameterSpec(name, shape, spec.role(), initial);
    }

    private static Initializer from(String name, double low, double high) {
        return (_, shape, type) -> Tensors.of(uniform(name, shape, low, high), shape, type);
    }

    private static double[] uniform(String name, Shape shape, double low, double high) {
        return new SplittableRandom(name.hashCode())
                .doubles(shape.elements(), low, high)
                .toArray();
    }

    private static double[] summary(float[] values) {
        double[] sums = new double[4];
        for (int i = 0; i < values.length; i++) {
            sums[0] += values[i];
            sums[1] += (double) values[i] * values[i];
            sums[2] += values[i] * Math.cos(0.7 * i);
            sums[3] += values[i] * Math.sin(0.013 * i);
        }
        double count = values.length;
        return new double[] {
            sums[0] / count, Math.sqrt(sums[1] / count), sums[2] / Math.sqrt(count), sums[3] / Math.sqrt(count)
        };
    }
}
