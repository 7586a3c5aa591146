package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Poolings side by side. */
class JoinTest {
    @RandomTest
    void descriptorIsThatOfEachBranchOneAfterAnother(Seed seed) {
        try (Scope _ = Scope.open();
                PoolingTrial join = PoolingTrial.of("[bilinear/triu/root/l2+pca:3/average+rbf:sigma=estimate/flat]");
                PoolingTrial first = PoolingTrial.of("bilinear/triu/root/l2");
                PoolingTrial second = PoolingTrial.of("pca:3/average");
                PoolingTrial third = PoolingTrial.of("rbf:sigma=estimate/flat")) {
            Tensor features = PoolingTrial.features(seed.random().nextLong());
            Tensor whole = join.describe(features);
            assertThat(whole.size(1)).isEqualTo(28 + 3 + 49);
            assertTensor(whole.slice(1, 0, 28)).isIdenticalTo(first.describe(features));
            assertTensor(whole.slice(1, 28, 31)).isIdenticalTo(second.describe(features));
            assertTensor(whole.slice(1, 31, 80)).isIdenticalTo(third.describe(features));
        }
    }

    @Test
    void everyBranchHasParametersOfItsOwn() {
        Pooling pooling = Pooling.parse("conv:6/[conv:4/average+conv:5/[average+rbf:sigma=learned/triu]]");
        assertThat(pooling.parameters(7).stream().map(ParameterSpec::name))
                .containsExactly(
                        "conv.weight",
                        "conv.bias",
                        "join.0.conv.weight",
                        "join.0.conv.bias",
                        "join.1.conv.weight",
                        "join.1.conv.bias",
                        "join.1.join.1.rbf.logSigma");
        assertThat(pooling.descriptorSize(7)).isEqualTo(4 + 5 + 15);
        assertThat(pooling.maxChannels(3)).isEqualTo(6);
        assertThat(Pooling.parse("[average+conv:9/average]").maxChannels(3)).isEqualTo(9);
    }

    @Test
    void joinIsResolvedBranchByBranch() {
        Backbone backbone = Backbone.of("googlenet");
        Pooling pooling = Pooling.parse("[bcnn+[average+tail/l2]]/l2").resolve(backbone, 100);
        assertThat(pooling)
                .hasToString("[bilinear/triu/root/l2+[average+tail:network=googlenet,layer=inception_4e/l2]]/l2");
        assertThat(pooling.descriptorSize(832)).isEqualTo(832 * 833 / 2 + 832 + 1024);
    }

    /** Not from the backbone's 832 channels, more or fewer. */
    @ParameterizedTest
    @CsvSource({
        "conv:900/[rbf/spd:900/relu/triu/root/l2+average/l2],    conv:900/[rbf/spd:900/relu/triu/root/l2+average/l2]",
        "pca:16/[covariance/triu/pca:most+average],              pca:16/[covariance/triu/pca:136+average]",
        "pca:16/[conv:8/covariance/triu/pca:most+average],       pca:16/[conv:8/covariance/triu/pca:36+average]",
        "pca:16/[[average/pca:most+average]/pca:most+average],   pca:16/[[average/pca:16+average]/pca:32+average]",
    })
    void branchesAreResolvedFromTheirChannels(String open, String resolved) {
        assertThat(Pooling.parse(open).resolve(Backbone.of("googlenet"), 1000)).hasToString(resolved);
    }

    @Test
    void listenerIsToldOfEveryStageOfEveryBranch() {
        List<String> stages = new ArrayList<>();
        try (Scope _ = Scope.open();
                PoolingTrial trial = PoolingTrial.of("conv:6/[rbf/triu/l2+conv:4/average]/root");
                Tape tape = Tape.inference()) {
            trial.pooling.trace(
                    tape.constant(PoolingTrial.features(1)),
                    Bindings.of(trial.parameters.variables(tape)),
                    (stage, value) -> stages.add(stage + " " + value.shape()));
        }
        assertThat(stages)
                .zipSatisfy(
                        List.of(
                                facts("conv:6", "[3, 6, 20]"),
                                facts("1", "rbf", "[3, 6, 6]"),
                                facts("1", "triu", "[3, 21]"),
                                facts("1", "l2", "[3, 21]"),
                                facts("2", "conv:4", "[3, 4, 20]"),
                                facts("2", "average", "[3, 4]"),
                                facts("2", "[3, 25]"),
                                facts("root", "[3, 25]")),
                        (stage, facts) -> assertThat(stage).has(facts));
    }

    @Test
    void onlyWhatHasNoValueYetIsFitted() {
        Pooling pooling = Pooling.parse("[pca:2/average+pca:3/average]");
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(7, new SplittableRandom(1), DType.F64, Device.CPU)) {
            Fitting.fit(pooling, PoolingTrial.features(1), parameters, new SplittableRandom(1));
            Tensor first = parameters.get("join.0.pca.mean").value().copy();
            parameters.get("join.1.pca.mean").set(Tensors.full(Double.NaN, first.shape(), DType.F64, Device.CPU));
            Fitting.fit(pooling, PoolingTrial.features(2), parameters, new SplittableRandom(1));
            assertTensor(parameters.get("join.0.pca.mean").value()).isIdenticalTo(first);
            assertThat(parameters.get("join.1.pca.mean").value().toDoubles()).doesNotContain(Double.NaN);
        }
        assertThat(Fitting.images(pooling)).isEqualTo(Fitting.DEFAULT_IMAGES);
        assertThat(Fitting.isNeeded(Pooling.parse("[average+bcnn]"))).isFalse();
    }
}
