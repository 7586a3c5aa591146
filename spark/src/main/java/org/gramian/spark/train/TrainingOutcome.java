package org.gramian.spark.train;

import java.util.Optional;
import org.gramian.train.loop.Cancellation;

/**
 * Result of a distributed training.
 *
 * @param model path of the model file; empty if interrupted: run the job again with {@code resume}
 * @param interruption reason of an early end; empty if finished
 * @param training number of training images
 * @param validation number of validation images
 * @param unreadable number of unreadable images
 * @param features folder of the feature tables, {@code training} and, with a validation set, {@code validation}; their column
 *     {@code reason} has the error of each unreadable image
 */
public record TrainingOutcome(
        Optional<String> model,
        Optional<Cancellation.Reason> interruption,
        long training,
        long validation,
        long unreadable,
        String features) {}
