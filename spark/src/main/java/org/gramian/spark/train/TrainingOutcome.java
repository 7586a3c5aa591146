package org.gramian.spark.train;

import java.util.Optional;
import org.gramian.train.loop.Cancellation;

/**
 * What came of a training.
 *
 * @param model path of the model file; nothing where somebody asked for a break: it goes on when the job is run again with {@code
 *     resume}
 * @param early why it stopped before its end; nothing if it came there
 * @param training images that were learned from
 * @param heldBack images that judged epochs
 * @param unreadable images that took no part, because they cannot be read
 * @param features folder of the tables of features, {@code training} and, where images are held back, {@code held-back}, with the
 *     reason of each unreadable image in their column {@code reason}
 */
public record TrainingOutcome(
        Optional<String> model,
        Optional<Cancellation.Reason> early,
        long training,
        long heldBack,
        long unreadable,
        String features) {}
