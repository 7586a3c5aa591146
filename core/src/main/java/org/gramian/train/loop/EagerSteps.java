package org.gramian.train.loop;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import org.gramian.tensor.Scope;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.loop.BatchMixing.Mixed;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.Examples.Pass;
import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.loop.TrainingProgress.EpochSums;

/** Steps taken one by one on any device, each over one batch, or several by gradient accumulation. */
final class EagerSteps implements Steps {
    private final TrainingStage stage;
    private final Source source;
    private final Optimizer optimizer;
    private final List<ParameterGroup> groups;
    private final Optional<BatchMixing> mixing;

    EagerSteps(TrainingStage stage, Source source, Optimizer optimizer, HeadRates rates) {
        this.stage = stage;
        this.source = source;
        this.optimizer = optimizer;
        this.groups = stage.model().optimizedGroups(rates);
        this.mixing = BatchMixing.of(stage);
    }

    Source source() {
        return source;
    }

    @Override
    public Epoch epoch(int[] order, long epoch) {
        Pass pass = source.examples().pass(order, stage.recipe().batching().batch(), epoch);
        return new Epoch() {
            private int left = order.length;

            @Override
            public Taken take(TrainingProgress progress, IntToDoubleFunction learningRate) {
                int start = order.length - left;
                int[] places = Arrays.copyOfRange(order, start, start + Math.min(left, stage.stepSize()));
                left -= places.length;
                return step(pass, places, learningRate.applyAsDouble(progress.step()), progress);
            }

            @Override
            public void close() {
                pass.close();
            }
        };
    }

    private Taken step(Pass pass, int[] places, double learningRate, TrainingProgress progress) {
        int crops = places.length;
        Dropout dropout = stage.dropout(progress.epoch());
        try (GradientSum sum = new GradientSum()) {
            EpochSums sums = progress.sums();
            for (int seen = 0; seen < crops; ) {
                try (Scope _ = Scope.open()) { // frees each batch before the next one is computed
                    Mixed batch = mixed(pass.next(), progress, seen);
                    int size = batch.batch().labels().length;
                    int[] of = Arrays.copyOfRange(places, seen, seen + size);
                    seen += size;
                    GradientSum.Batch added = sum.add(
                            stage.model(), batch.batch(), batch.targets(), (double) size / crops, dropout.of(of));
                    if (added.nonFinite().isPresent()) {
                        throw added.nonFinite().get().in(progress);
                    }
                    sums = sums.plus(added.loss(), added.correct(), size);
                }
            }
            optimizer.setLearningRate(learningRate);
            optimizer.step(groups, sum.sums());
            return new Taken(1, sums);
        }
    }

    /** @param seen examples of this step in earlier batches, from which the number of this batch follows */
    private Mixed mixed(Minibatch batch, TrainingProgress progress, int seen) {
        Mixed plain = new Mixed(batch, source.targets().apply(batch.labels()));
        int number = seen / stage.recipe().batching().batch();
        return mixing.map(mix -> mix.apply(plain, progress, number)).orElse(plain);
    }

    @Override
    public void close() {}
}
