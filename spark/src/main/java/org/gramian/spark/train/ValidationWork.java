package org.gramian.spark.train;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.loop.ImageScores;
import org.gramian.train.loop.ValidationCounts;

/**
 * Evaluates the head on the validation images of a group.
 *
 * @param batch batch size in crops
 */
record ValidationWork(int batch) implements HeadTask.Work<ValidationCounts> {
    @Override
    public ValidationCounts on(HeadTask.Sight sight) {
        ValidationCounts judged = ValidationCounts.NONE;
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
    public Class<ValidationCounts> result() {
        return ValidationCounts.class;
    }

    /** Scores all images of a shard in the order of their places; all crops of an image are in one shard. */
    static List<Logits> scores(HeadTask.Sight sight, FeatureShard shard, int batch) {
        ImageScores.Rows rows = new ImageScores.Rows(
                shard.places().length,
                sight.form().crops(),
                places -> shard.features(places, sight.form(), sight.model().device()));
        return ImageScores.ofRows(sight.model(), rows, batch).compute();
    }
}
