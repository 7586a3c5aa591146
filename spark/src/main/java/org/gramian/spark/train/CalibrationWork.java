package org.gramian.spark.train;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.gramian.model.Logits;

/**
 * The scores of a group's held-back images, to fit a temperature to.
 *
 * @param batch crops that are computed at once
 * @param most images of one group
 */
record CalibrationWork(int batch, int most) implements HeadTask.Work<CalibrationWork.Scores> {
    /** The scores of an image. */
    @SuppressWarnings("ArrayRecordComponent") // handed on and never compared
    record Scored(int label, double[] logits) implements Serializable {}

    /** The scores of some images. */
    record Scores(List<Scored> images) implements Serializable {}

    @Override
    public Scores on(HeadTask.Sight sight) {
        List<Scored> some = new ArrayList<>();
        while (some.size() < most && sight.shards().hasNext()) {
            FeatureShard shard = sight.shards().next();
            List<Logits> scores = JudgeWork.scores(sight, shard, batch);
            for (int i = 0; i < scores.size() && some.size() < most; i++) {
                int label = shard.labels()[i * sight.form().crops()];
                some.add(new Scored(label, scores.get(i).toArray()));
            }
        }
        return new Scores(some);
    }

    @Override
    public Class<Scores> result() {
        return Scores.class;
    }
}
