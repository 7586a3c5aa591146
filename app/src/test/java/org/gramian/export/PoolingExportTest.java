package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.backbone.Backbone;
import org.gramian.export.graph.NotExpressibleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PoolingExportTest {
    @TempDir
    private Path folder = Path.of("");

    private void requireAgreement(String pooling) throws IOException {
        try (SmallModel small = SmallModel.of(pooling, 32)) {
            small.requireAgreement(folder, ExportedFile.DEFAULT_OPSET, 1, 3, 8);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "average",
                "max/l2",
                "sum",
                "sum:prior=center/l2",
                "gem:3/l2",
                "gem:2.5,learn=false",
                "weighted/l2",
                "pyramid:2",
                "pyramid:3,of=max/l2",
                "radam",
                "conv:7/radam:2/l2",
                "sot:2,size=3",
                "conv:8/sot:3,size=4,iterations=3/l2",
                "conv:6/average",
                "pca:5/average",
                "average/pca:7/l2",
                "conv:6/dropcov/average",
                "fisher:3",
                "pca:4/fisher:3,weights=true/root:eps=0/l2",
                "netvlad:3/l2",
                "netvlad:3,unit=false",
                "deepten:4/l2",
                "vlad:3/l2",
                "vlad:3,intra=false",
                "bow:5",
                "mop:3",
                "cross:40/root/l2",
                "conv:8/[average+bilinear/triu/root/l2]/l2"
            })
    void everyAggregationAgrees(String pooling) throws IOException {
        requireAgreement(pooling);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conv:8/rbf/triu",
                "conv:8/rbf:sigma=mean-full/triu",
                "conv:8/rbf:sigma=3/triu",
                "conv:8/rbf:sigma=estimate/triu",
                "conv:8/rbf:sigma=learned/triu",
                "rbf/flat",
                "conv:8/rbf:jitter=0/flat",
                "conv:8/laplacian:sigma=2/triu",
                "conv:8/polynomial:degree=2,scale=0.1,offset=1/triu/root/l2",
                "conv:8/covariance/triu",
                "conv:8/covariance:shrinkage=0.3/triu",
                "conv:8/bilinear/triu/root/l2",
                "conv:8/gaussian/triu",
                "conv:8/democratic/triu/root/l2",
                "conv:8/(rbf+0.5*covariance)/triu",
                "(bilinear*rbf:sigma=estimate+0.1*rbf:sigma=learned)/triu/root/l2",
                "democratic:gamma=0,iterations=1/triu/l2"
            })
    void everyKernelAgrees(String pooling) throws IOException {
        requireAgreement(pooling);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conv:8/rbf/spd:5/relu/triu/root/l2",
                "conv:8/rbf/spd:6/relu/spd:3/relu/triu/root:eps=0/l2",
                "conv:8/covariance/isqrt:1/triu",
                "conv:8/covariance/isqrt:2/flat",
                "conv:8/covariance/isqrt:5/triu",
                "conv:8/covariance/isice:5/triu",
                "pca:8/covariance:shrinkage=0.1/rbn/isqrt:5/triu",
                "conv:8/covariance/o2t:11/pv:7/root/l2",
                "bilinear/sketch:64/root/l2",
                "bilinear/maclaurin:32/root/l2"
            })
    void everyTransformAndVectorizationAgrees(String pooling) throws IOException {
        requireAgreement(pooling);
    }

    @Test
    void foldsBatchNormOfScores() throws IOException {
        try (SmallModel small = SmallModel.of(Backbone.of("filters"), "conv:8/rbf/spd:4/relu/triu/root/l2", 32, true)) {
            small.requireAgreement(folder, ExportedFile.DEFAULT_OPSET, 3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"log", "sqrt", "power:0.3", "reeig:1e-4"})
    void rejectsEigenvalueTransforms(String transform) {
        try (SmallModel small = SmallModel.of("conv:4/covariance/" + transform + "/triu", 32)) {
            assertThatThrownBy(() -> ExportedFile.content(small.model(), small.card(), ExportedFile.DEFAULT_OPSET))
                    .isInstanceOf(NotExpressibleException.class)
                    .hasMessageContaining(transform);
        }
    }
}
