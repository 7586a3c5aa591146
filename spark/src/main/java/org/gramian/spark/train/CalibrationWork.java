package org.gramian.spark.train;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.gramian.model.Logits;

/**
 * The scores of a shard's held-back pictures, to fit a temperature to.
 *
 * @param batch crops that are computed at once
 * @param most pictures of one shard
 */
record CalibrationWork(int batch, int most) implements HeadTask.Work<List<CalibrationWork.Scored>> {
    /** The scores of a picture. */
    @SuppressWarnings("ArrayRecordComponent") // handed on and never compared
    record Scored(int label, double[] logits) implements Serializable {}

    @Override
    public List<Scored> on(HeadTask.Sight sight) {
        List<Logits> scores = JudgeWork.scores(sight, batch);
        List<Scored> some = new ArrayList<>();
        for (int i = 0; i < Math.min(most, scores.size()); i++) {
            int label = sight.shard().labels()[i * sight.form().crops()];
            some.add(new Scored(label, scores.get(i).toArray()));
        }
        return some;
    }
}
