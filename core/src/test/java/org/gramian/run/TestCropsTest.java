package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.Evaluator;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.compare.TestImages;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.InferencePipeline;
import org.gramian.model.ModelFile;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Crops of validation, test and prediction that differ from those of training. */
class TestCropsTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void modelStoresTestCropsAndEvaluationAgrees() throws IOException, InterruptedException {
        SmallRun run = SmallRun.in(folder).with("data.test-crops", Optional.of(CropPlan.parse("resize:24+flips")));
        FoldResult fold = run.train(List.of()).folds().getFirst();
        try (ModelFile.Stored stored = ModelFile.read(fold.model(), Device.CPU)) {
            assertThat(stored.card().crops().text()).isEqualTo("resize:24+flips");
            Evaluator evaluator = Evaluator.of(Classifier.of(Engine.of(stored.model()), stored.card())
                    .withCrops(stored.card().crops())
                    .withBatch(InferencePipeline.DEFAULT_BATCH));
            List<String> tested = fold.evaluation().predictions().stream()
                    .map(ImagePrediction::name)
                    .toList();
            List<Sample> samples = run.dataset().samples();
            List<Integer> indexes = IntStream.range(0, samples.size())
                    .filter(i -> tested.contains(samples.get(i).name()))
                    .boxed()
                    .toList();
            List<ImagePrediction> again = evaluator
                    .on(run.dataset(), new TestImages(indexes, fold.evaluation().setting(), List.of()), _ -> {})
                    .evaluation()
                    .predictions();
            for (int i = 0; i < again.size(); i++) {
                ImagePrediction expected = fold.evaluation().predictions().get(i);
                assertThat(again.get(i).name()).isEqualTo(expected.name());
                assertThat(again.get(i).logits().get(0) - again.get(i).logits().get(1))
                        .isCloseTo(expected.logits().get(0) - expected.logits().get(1), within(1e-4));
            }
        }
    }
}
