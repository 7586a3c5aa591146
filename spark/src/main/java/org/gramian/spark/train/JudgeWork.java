package org.gramian.spark.train;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.loop.JudgedPictures;
import org.gramian.train.loop.PictureScores;

/**
 * What the held-back pictures of a group say of the head.
 *
 * @param batch crops that are computed at once
 */
record JudgeWork(int batch) implements HeadTask.Work<JudgedPictures> {
    @Override
    public JudgedPictures on(HeadTask.Sight sight) {
        JudgedPictures judged = JudgedPictures.NONE;
        while (sight.shards().hasNext()) {
            FeatureShard shard = sight.shards().next();
            List<Logits> scores = scores(sight, shard, batch);
            for (int i = 0; i < scores.size(); i++) {
                judged = judged.plus(
                        scores.get(i), shard.labels()[i * sight.form().crops()]);
            }
        }
        return judged;
    }

    @Override
    public Class<JudgedPictures> result() {
        return JudgedPictures.class;
    }

    /** Scores of all pictures of a shard, in the order of their places: each has all its crops there. */
    static List<Logits> scores(HeadTask.Sight sight, FeatureShard shard, int batch) {
        PictureScores.Rows rows = new PictureScores.Rows(
                shard.places().length,
                sight.form().crops(),
                places -> shard.features(places, sight.form(), sight.model().device()));
        return PictureScores.ofRows(sight.model(), rows, batch).compute();
    }
}
