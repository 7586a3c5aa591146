package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.TrainingData.Parts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a training does before its first step where the pooling takes something from data. */
class FittedTrainingTest {
    private static final CropPlan FIVE = CropPlan.parse("paper:16");

    @TempDir
    private Path folder = Path.of("");

    @Test
    void onlyTheFirstCropOfEachImageIsFittedTo() throws IOException {
        Parts parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 6, 7));
        assertThat(FIVE.testing().count()).isEqualTo(5);
        try (FrozenBackbone network = FrozenBackbone.withoutWeights(Backbone.of("squeezenet", "pool1"), Device.CPU);
                Model model = model(network)) {
            FeatureExtractor extractor = new FeatureExtractor(network, 4, DType.F32);
            try (FeatureCache cache = FeatureCache.open(Optional.empty(), folder, _ -> {})) {
                TrainingData material = new TrainingData(
                        parts,
                        FIVE.training(1),
                        FIVE.testing(),
                        new FeatureExtraction(extractor, ImageLimits.DEFAULT, Optional.of(cache)),
                        Map.of(),
                        Optional.empty());
                TrainingContext context = TrainingContext.of(Device.CPU);
                new TwoStageTraining(model, Recipes.first(0, 1), material, context).run((_, _) -> {});
                long bytes = FeatureCache.list(cache.folder()).getFirst().bytes();
                assertThat(bytes / extractor.bytes(FIVE.testing()))
                        .isEqualTo(parts.training().size());
            }
            assertThat(model.headParameters().all()).noneMatch(parameter -> Fitting.isUnset(parameter.value()));
        }
    }

    private static Model model(FrozenBackbone network) {
        ParameterSet backbone = ParameterSet.initialize(
                network.backbone().parameters(), new SplittableRandom(0), DType.F32, network.device());
        Head head = new Head(Pooling.parse("vlad:2"), 2, false);
        return Model.begin(network.backbone(), backbone, head, new SplittableRandom(1), network.device());
    }
}
