package org.gramian.train.loop;

import java.util.List;
import java.util.Objects;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Scoring;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.ParameterGroup;
import org.gramian.train.Sgd;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.Examples.Pass;

/** Steps that are looked at one by one, on any device, each over one batch or several whose gradients are added up. */
final class SingleSteps implements Steps {
    private final StageLoop.Setup setup;
    private final Sgd sgd;
    private final List<ParameterGroup> moved;

    SingleSteps(StageLoop.Setup setup, Sgd sgd, HeadRates rates) {
        this.setup = setup;
        this.sgd = sgd;
        this.moved = setup.trainee().moved(rates);
    }

    @Override
    public Epoch epoch(int[] order) {
        Pass pass = setup.examples().pass(order, setup.recipe().batching().batch());
        return new Epoch() {
            private int left = order.length;

            @Override
            public Taken take(Position position, IntToDoubleFunction rate) {
                int crops = Math.min(left, setup.stride());
                left -= crops;
                return step(pass, crops, rate.applyAsDouble(position.step()), position);
            }

            @Override
            public void close() {
                pass.close();
            }
        };
    }

    private Taken step(Pass pass, int crops, double rate, Position position) {
        try (GradientSum sum = new GradientSum()) {
            EpochSums sums = position.sums();
            for (int taken = 0; taken < crops; ) {
                try (Scope _ = Scope.open()) { // of this batch: nothing of it is held while the next one is computed
                    Minibatch batch = pass.next();
                    taken += batch.labels().length;
                    sums = learn(batch, (double) batch.labels().length / crops, sum, position, sums);
                }
            }
            sgd.setLearningRate(rate);
            moved.forEach(group -> sgd.step(group, sum.sums()));
            return new Taken(1, sums);
        }
    }

    private EpochSums learn(Minibatch batch, double share, GradientSum sum, Position position, EpochSums sums) {
        try (Tape tape = Tape.recording()) {
            Trainee.Forward forward = setup.trainee().forward(tape, batch.input());
            Tensor targets = setup.targets().apply(batch.labels());
            Var loss = Classification.crossEntropy(forward.scores(), targets);
            double value = loss.value().item();
            if (!Double.isFinite(value)) {
                throw NonFiniteLossException.ofLoss(position, setup.trainee().origin(batch.input(), targets));
            }
            EpochSums after = sums.plus(value, right(forward.scores().value(), batch.labels()), batch.labels().length);
            Tensor upstream = Tensors.full(
                    share, loss.shape(), loss.value().type(), loss.value().device());
            try (Gradients gradients = tape.backward(loss, upstream)) {
                setup.trainee()
                        .groups()
                        .forEach((part, group) -> sum.add(
                                group,
                                Objects.requireNonNull(forward.variables().get(part)),
                                gradients));
            }
            if (!sum.allFinite()) { // found out while the parameters are still those that the gradients belong to
                throw NonFiniteLossException.ofGradient(
                        position, setup.trainee().origin(batch.input(), targets));
            }
            return after;
        }
    }

    private static int right(Tensor scores, int[] labels) {
        float[][] rows = Scoring.toRows(scores);
        int right = 0;
        for (int i = 0; i < labels.length; i++) {
            int top = 0;
            for (int k = 1; k < rows[i].length; k++) {
                top = rows[i][k] > rows[i][top] ? k : top;
            }
            right += top == labels[i] ? 1 : 0;
        }
        return right;
    }

    @Override
    public void close() {}
}
