package org.gramian.train.distill;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;

/** What a distillation tells its listener, on the calling thread unless said otherwise. */
public sealed interface DistillEvent {
    /**
     * Images are decoded.
     *
     * @param task as {@code decoding images}
     * @param done images so far
     * @param all images
     */
    record Preparing(String task, long done, long all) implements DistillEvent {}

    /** An image cannot be read and is left out; sent by any thread. */
    record Skipped(Path file, String reason) implements DistillEvent {}

    /**
     * Training begins or resumes.
     *
     * @param images readable images
     * @param steps of an epoch
     * @param batch images of a step
     * @param parameters trained numbers of the student
     * @param resumed completed epochs of an earlier process
     * @param onDevice whether decoded images lie in GPU memory
     */
    record Started(int images, int steps, int batch, long parameters, int resumed, boolean onDevice)
            implements DistillEvent {}

    /**
     * Mean losses of an epoch so far.
     *
     * @param total weighted sum
     * @param features feature loss, unweighted
     * @param grams Gram loss, unweighted
     * @param logits logit loss, unweighted
     */
    record Losses(double total, double features, double grams, double logits) {}

    /**
     * Steps were taken.
     *
     * @param epoch from 1
     * @param epochs of the whole training; empty with a time budget
     * @param step steps of the epoch so far
     * @param losses means over them
     * @param learningRate of the last step
     * @param position share of the training that is done
     * @param imagesPerSecond empty before it is known
     * @param left remaining time; empty before it is known
     */
    record Stepped(
            int epoch,
            Optional<Integer> epochs,
            int step,
            Losses losses,
            double learningRate,
            double position,
            OptionalDouble imagesPerSecond,
            Optional<Duration> left)
            implements DistillEvent {}

    /**
     * An epoch is done.
     *
     * @param last state after its last step
     * @param probe accuracy of the linear probe, if one was taken
     */
    record EpochDone(Stepped last, OptionalDouble probe) implements DistillEvent {}
}
