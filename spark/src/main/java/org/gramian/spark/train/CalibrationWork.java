package org.gramian.spark.train;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.gramian.model.Logits;

/**
 * Scores validation images of a group, for temperature scaling.
 *
 * @param batch batch size in crops
 * @param most most images of a group
 */
record CalibrationWork(int batch, int most) implements HeadTask.Work<CalibrationWork.Scores> {
    /** Scores of an image. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Scored(int label, double[] logits) implements Serializable {}

    /** Scores of several images. */
    record Scores(List<Scored> images) implements Serializable {}

    @Override
    public Scores on(HeadTask.Sight sight) {
        List<Scored> some = new ArrayList<>();
        while (some.size() < most && sight.shards().hasNext()) {
            FeatureShard shard = sight.shards().next();
            List<Logits> scores = ValidationWork.scores(sight, shard, batch);
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
