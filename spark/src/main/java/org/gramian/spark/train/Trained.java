package org.gramian.spark.train;

import java.util.Optional;
import org.gramian.train.loop.Breaks;

/**
 * What came of a training.
 *
 * @param model path of the model file; nothing where somebody asked for a break: it goes on when the job is run again with {@code
 *     resume}
 * @param early why it stopped before its end; nothing if it came there
 * @param training pictures that were learned from
 * @param heldBack pictures that judged epochs
 * @param unreadable pictures that took no part, because they cannot be read
 * @param features folder of the table of features, with the reason of each unreadable picture in its column {@code reason}
 */
public record Trained(
        Optional<String> model,
        Optional<Breaks.Reason> early,
        long training,
        long heldBack,
        long unreadable,
        String features) {}
