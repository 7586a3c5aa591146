package org.gramian.train.distill;

import java.util.ArrayList;
import java.util.List;
import org.gramian.train.distill.DistillHistory.EpochRow;

/**
 * Progress of a distillation, which a checkpoint stores.
 *
 * @param epoch current epoch, from 0
 * @param step steps of it that are done
 * @param sums of total, feature, Gram and logit loss over these steps
 * @param seconds of training so far, over all processes
 * @param history of the completed epochs
 */
record DistillProgress(int epoch, int step, List<Double> sums, double seconds, List<EpochRow> history) {
    static final DistillProgress START = new DistillProgress(0, 0, List.of(0.0, 0.0, 0.0, 0.0), 0, List.of());

    DistillProgress {
        sums = List.copyOf(sums);
        history = List.copyOf(history);
    }

    /** Returns the progress after more steps of the epoch. */
    DistillProgress stepped(DistillSteps.Taken taken, double now) {
        List<Double> added = new ArrayList<>();
        for (int i = 0; i < sums.size(); i++) {
            added.add(sums.get(i) + taken.sums()[i]);
        }
        return new DistillProgress(epoch, step + taken.steps(), added, now, history);
    }

    /** Returns the progress at the start of the next epoch. */
    DistillProgress completed(EpochRow row) {
        List<EpochRow> rows = new ArrayList<>(history);
        rows.add(row);
        return new DistillProgress(epoch + 1, 0, START.sums, seconds, rows);
    }

    /** Returns the mean of a loss over the steps of the epoch so far. */
    double mean(int part) {
        return step == 0 ? 0 : sums.get(part) / step;
    }
}
