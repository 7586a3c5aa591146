package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.pooling.Methods.Method;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every pooling: all methods at a reduced size, and between them and the others every word. */
@ExtendWith(Scoped.class)
class PoolingContractTest {
    private static final List<String> OTHERS = List.of(
            "rbf:sigma=mean-full/spd:7/relu/flat",
            "rbf:sigma=learned/spd:5/spd:3/triu",
            "rbf:sigma=estimate,jitter=1e-2/triu/root",
            "rbf:sigma=2.5/reeig:0.5/triu/root:eps=0.01/l2",
            "laplacian:sigma=3,jitter=1e-3/spd:4/relu/triu/l2",
            "polynomial:degree=3,scale=0.1,offset=2/triu/root",
            "pca:5/covariance:jitter=0.1/log:floor=1e-3/triu",
            "conv:6/conv:5/bilinear:jitter=0.1/power:0.3/triu/l2",
            "covariance/sqrt:floor=1e-2/triu",
            "bilinear/isqrt:7/flat",
            "(rbf:sigma=estimate+bilinear)/spd:5/rbn/reeig:0.1/rbn/triu",
            "pca:5/bilinear/isice:3,sparsity=0.1,rate=0.5/flat",
            "(rbf+2*bilinear*rbf:sigma=estimate)/triu",
            "[(rbf:sigma=learned*covariance:jitter=0.1)/log/triu+average]",
            "democratic:gamma=0,iterations=3,jitter=1e-3/flat",
            "average",
            "pca:3/average/root/l2",
            "[dropcov/bilinear/triu+average]",
            "max",
            "sum",
            "sum:prior=center",
            "gem:1.5",
            "conv:6/gem:4,learn=false/l2",
            "pyramid:2,of=max",
            "pyramid:3",
            "pca:6/radam:2/l2",
            "conv:5/sot:2,size=3,iterations=4/l2",
            "weighted/root",
            "conv:5/fisher:2/root:eps=0/l2",
            "netvlad:4,unit=false/root",
            "pca:4/vlad:5,intra=false/l2/pca:1",
            "pca:4/bow:4",
            "rbf/triu/pca:2",
            "rbf/o2t:4/o2t:9/pv:5",
            "polynomial:degree=2,scale=1,offset=0/sketch:5",
            "gaussian:jitter=1e-3/spd:4/isqrt:5/maclaurin:300/l2",
            "covariance:shrinkage=0.25,jitter=1e-3/triu",
            "conv:same/average",
            "conv:atmost=4/average/l2/scale",
            "conv:atmost=40/bilinear/triu/root/l2/scale:3",
            "[layer:block29,from=2,to=6/average+covariance/triu/root/l2/scale:0.5]",
            "[bilinear/triu/l2+average]/root/l2",
            "conv:6/[pca:3/average+rbf:sigma=estimate/triu+conv:4/rbf:sigma=learned/spd:3/triu/root]",
            "[average+[cross:2/l2+conv:512/tail:network=squeezenet,layer=fire9/l2]]/l2");

    static Stream<String> poolings() {
        Stream<String> methods = Methods.all().stream()
                .map(Method::pooling)
                .map(text -> text.replaceAll("conv:\\d+", "conv:6")
                        .replaceAll("spd:512", "spd:6")
                        .replaceAll("spd:128", "spd:4")
                        .replaceAll("(fisher|netvlad|deepten|vlad|bow|mop):\\d+", "$1:3")
                        .replaceAll("pca:most", "pca:2")
                        .replaceAll("spd:64", "spd:3")
                        .replaceAll("(sketch|maclaurin|pv|o2t):\\d+", "$1:11")
                        .replaceAll("(conv:same/)?tail(?!:)", "conv:512/tail:network=squeezenet,layer=fire9")
                        .replaceAll("cross(?!:)", "cross:3")
                        .replaceAll("pca:64", "pca:6"));
        return Stream.concat(methods, OTHERS.stream()).distinct();
    }

    @Test
    void everyWordTakesPart() {
        Set<String> used = new TreeSet<>();
        poolings().forEach(text -> {
            for (String stage : text.split("[/+*]", -1)) {
                used.add(stage.replaceAll("[\\[\\]()]|:.*", ""));
            }
            used.removeIf(word -> word.matches("[\\d.]+")); // weights of kernels
            if (text.contains(PoolingParser.SUM.name())) {
                used.add(PoolingParser.SUM.name());
            }
            if (text.contains(Join.SYNTAX.name())) {
                used.add(Join.SYNTAX.name());
            }
        });
        assertThat(used)
                .containsExactlyInAnyOrderElementsOf(PoolingStage.all().stream()
                        .map(PoolingStage.Syntax::name)
                        .toList());
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void itsTextIsReadBackToEqualPooling(String text) {
        Pooling pooling = Pooling.parse(text);
        assertThat(Pooling.parse(pooling.text())).isEqualTo(pooling).hasSameHashCodeAs(pooling);
        assertThat(pooling).hasToString(pooling.text());
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void descriptorHasSizeItPromises(String text) {
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Tensor descriptors = trial.describe(PoolingTrial.features(1));
            assertThat(descriptors.shape()).isEqualTo(Shape.of(3, trial.pooling.descriptorSize(PoolingTrial.CHANNELS)));
            assertThat(descriptors.allFinite()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void gradientsReachFeaturesAndEveryTrainedParameter(String text) {
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Map<String, Tensor> gradients = trial.gradients(PoolingTrial.features(1));
            assertThat(Objects.requireNonNull(gradients.get("features")).shape())
                    .isEqualTo(PoolingTrial.FEATURES);
            for (Parameter parameter : trial.parameters.all()) {
                boolean trained = parameter.spec().role() != Role.FITTED;
                assertThat(gradients.containsKey(parameter.name()))
                        .as(parameter.name())
                        .isEqualTo(trained);
            }
            if (!trial.pooling.isDifferentiable()) {
                gradients.remove("features"); // it has none
            }
            gradients.forEach((name, gradient) -> {
                assertThat(gradient.allFinite()).as(name).isTrue();
                assertThat(gradient.largestMagnitude()).as(name).isGreaterThan(1e-9);
            });
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void batchIsDescribedAsItsImagesOneByOne(String text) {
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Tensor features = PoolingTrial.features(2);
            Tensor batch = trial.describe(features);
            for (int i = 0; i < 3; i++) {
                Tensor image = features.slice(0, i, i + 1L);
                assertTensor(trial.describe(image)).isCloseTo(batch.slice(0, i, i + 1L), 1e-12);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void orderOfPositionsDoesNotMatter(String text) {
        assumeFalse(Pooling.parse(text).aggregation().isSpatial(), "where a position lies matters to this one");
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Tensor features = PoolingTrial.features(3);
            Tensor flat = features.reshape(3, PoolingTrial.CHANNELS, 20);
            long[] order = new long[20];
            for (int i = 0; i < 20; i++) {
                order[i] = (7L * i + 3) % 20;
            }
            Tensor shuffled = flat.select(2, Tensors.ofLongs(order, Shape.of(20)));
            Tensor wide = shuffled.reshape(3, PoolingTrial.CHANNELS, 2, 10);
            assertTensor(trial.describe(wide)).isCloseTo(trial.describe(features), 1e-12);
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void sameSeedGivesSameBytes(String text) {
        try (PoolingTrial one = PoolingTrial.of(text);
                PoolingTrial two = PoolingTrial.of(text)) {
            assertTensor(one.describe(PoolingTrial.features(4))).isIdenticalTo(two.describe(PoolingTrial.features(4)));
            Map<String, Tensor> expected = two.gradients(PoolingTrial.features(4));
            one.gradients(PoolingTrial.features(4))
                    .forEach((name, gradient) ->
                            assertTensor(gradient).as(name).isIdenticalTo(Objects.requireNonNull(expected.get(name))));
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void singlePrecisionIsCloseToDouble(String text) {
        try (PoolingTrial exact = PoolingTrial.of(text);
                PoolingTrial single = exact.inSinglePrecision()) {
            Tensor features = PoolingTrial.features(5);
            Tensor descriptors = single.describe(features.to(DType.F32));
            assertThat(descriptors.type()).isEqualTo(DType.F32);
            assertTensor(descriptors).isCloseTo(exact.describe(features), 1e-4);
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void nothingStaysInMemory(String text) {
        try (Scope _ = Scope.open();
                PoolingTrial warmUp = PoolingTrial.of(text)) {
            warmUp.gradients(PoolingTrial.features(6)); // layouts of a size are made once and kept
        }
        long before = Tensor.live();
        for (int i = 0; i < 2; i++) {
            try (Scope _ = Scope.open();
                    PoolingTrial trial = PoolingTrial.of(text)) {
                trial.gradients(PoolingTrial.features(6));
                trial.describe(PoolingTrial.features(6));
            }
        }
        assertThat(Tensor.live()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void matricesOfManifoldAreOrthonormalAndFeaturesOfWrongRankRefused(String text) {
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Tensor flat = PoolingTrial.features(1).reshape(3, PoolingTrial.CHANNELS, 20);
            assertRejected(() -> trial.describe(flat), "[n, channels, height, width]", "F64[3, 7, 20]");
            for (Parameter parameter : trial.parameters.all()) {
                if (parameter.spec().role() == Role.STIEFEL) {
                    Tensor w = parameter.value();
                    Tensor unit = w.transpose().matmul(w);
                    assertTensor(unit).isCloseTo(Tensors.identity(w.size(1), DType.F64, w.device()), 1e-13);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("poolings")
    void blankImagesStayFinite(String text) {
        try (PoolingTrial trial = PoolingTrial.of(text)) {
            Tensor zeros = PoolingTrial.features(1).mul(0);
            assertThat(trial.describe(zeros).allFinite()).isTrue();
            trial.gradients(zeros)
                    .forEach((name, gradient) ->
                            assertThat(gradient.allFinite()).as(name).isTrue());
        }
    }
}
