package org.gramian.train.loop;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Training loss and accuracy of the current epoch, as sums.
 *
 * @param loss sum over the crops
 * @param correct crops that were classified correctly
 * @param seen crops
 */
record EpochSums(double loss, @JsonProperty("right") int correct, int seen) {
    static final EpochSums NONE = new EpochSums(0, 0, 0);

    /** Returns the sums after a batch with a mean loss. */
    EpochSums plus(double meanLoss, int batchCorrect, int crops) {
        return plusSum(meanLoss * crops, batchCorrect, crops);
    }

    /** Returns the sums after crops with a summed loss. */
    EpochSums plusSum(double losses, int batchCorrect, int crops) {
        return new EpochSums(loss + losses, correct + batchCorrect, seen + crops);
    }

    double meanLoss() {
        return loss / seen;
    }

    double accuracy() {
        return (double) correct / seen;
    }
}
