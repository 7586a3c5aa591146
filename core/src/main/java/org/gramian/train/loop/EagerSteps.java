package org.gramian.train.loop;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import org.gramian.tensor.Scope;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.loop.BatchGradient.Learned;
import org.gramian.train.loop.BatchMixing.Mixed;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.Examples.Pass;

/** Steps that are looked at one by one, on any device, each over one batch or several whose gradients are added up. */
final class EagerSteps implements Steps {
    private final StageLoop.Setup setup;
    private final Source source;
    private final Optimizer optimizer;
    private final BatchGradient learning;
    private final List<ParameterGroup> moved;
    private final Optional<BatchMixing> mixing;

    EagerSteps(StageLoop.Setup setup, Source source, Optimizer optimizer, HeadRates rates) {
        this.setup = setup;
        this.source = source;
        this.optimizer = optimizer;
        this.learning = new BatchGradient(setup.trainee());
        this.moved = setup.trainee().moved(rates);
        this.mixing = BatchMixing.of(setup);
    }

    /** What is learned from. */
    Source source() {
        return source;
    }

    @Override
    public Epoch epoch(int[] order, long epoch) {
        Pass pass = source.examples().pass(order, setup.recipe().batching().batch(), epoch);
        return new Epoch() {
            private int left = order.length;

            @Override
            public Taken take(TrainingProgress position, IntToDoubleFunction rate) {
                int start = order.length - left;
                int[] places = Arrays.copyOfRange(order, start, start + Math.min(left, setup.stride()));
                left -= places.length;
                return step(pass, places, rate.applyAsDouble(position.step()), position);
            }

            @Override
            public void close() {
                pass.close();
            }
        };
    }

    private Taken step(Pass pass, int[] places, double rate, TrainingProgress position) {
        int crops = places.length;
        Dropout dropout = setup.dropout(position.epoch());
        try (GradientSum sum = new GradientSum()) {
            EpochSums sums = position.sums();
            for (int taken = 0; taken < crops; ) {
                try (Scope _ = Scope.open()) { // of this batch: nothing of it is held while the next one is computed
                    Mixed batch = mixed(pass.next(), position, taken);
                    int size = batch.batch().labels().length;
                    int[] of = Arrays.copyOfRange(places, taken, taken + size);
                    taken += size;
                    Learned learned = learning.learn(
                            batch.batch(),
                            batch.targets(),
                            (double) size / crops,
                            sum,
                            descriptors -> dropout.apply(descriptors, of));
                    if (learned.wrong().isPresent()) {
                        throw learned.wrong().get().in(position);
                    }
                    sums = sums.plus(learned.loss(), learned.right(), size);
                }
            }
            optimizer.setLearningRate(rate);
            optimizer.step(moved, sum.sums());
            return new Taken(1, sums);
        }
    }

    /** @param taken examples of this step in earlier batches, whose number follows from it */
    private Mixed mixed(Minibatch batch, TrainingProgress position, int taken) {
        Mixed plain = new Mixed(batch, source.targets().apply(batch.labels()));
        int number = taken / setup.recipe().batching().batch();
        return mixing.map(mix -> mix.apply(plain, position, number)).orElse(plain);
    }

    @Override
    public void close() {}
}
