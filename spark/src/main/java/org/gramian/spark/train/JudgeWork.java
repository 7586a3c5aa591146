package org.gramian.spark.train;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.loop.JudgedPictures;
import org.gramian.train.loop.PictureScores;

/**
 * What the held-back pictures of a shard say of the head.
 *
 * @param batch crops that are computed at once
 */
record JudgeWork(int batch) implements HeadTask.Work<JudgedPictures> {
    @Override
    public JudgedPictures on(HeadTask.Sight sight) {
        List<Logits> scores = scores(sight, batch);
        JudgedPictures judged = JudgedPictures.NONE;
        for (int i = 0; i < scores.size(); i++) {
            judged = judged.plus(
                    scores.get(i), sight.shard().labels()[i * sight.form().crops()]);
        }
        return judged;
    }

    /** Scores of all pictures of a shard, in the order of their places: each has all its crops there. */
    static List<Logits> scores(HeadTask.Sight sight, int batch) {
        PictureScores.Rows rows = new PictureScores.Rows(
                sight.shard().places().length,
                sight.form().crops(),
                places -> sight.shard()
                        .features(places, sight.form(), sight.model().device()));
        return PictureScores.ofRows(sight.model(), rows, batch).compute();
    }
}
