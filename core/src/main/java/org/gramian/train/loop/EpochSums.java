package org.gramian.train.loop;

/**
 * What has been seen of an epoch so far.
 *
 * @param loss sum of the losses of all crops
 * @param right crops that were right
 * @param seen crops
 */
record EpochSums(double loss, int right, int seen) {
    static final EpochSums NONE = new EpochSums(0, 0, 0);

    EpochSums plus(double meanLoss, int rightOnes, int crops) {
        return new EpochSums(loss + meanLoss * crops, right + rightOnes, seen + crops);
    }

    /** After crops of which the losses are added up already. */
    EpochSums plusAll(double losses, int rightOnes, int crops) {
        return new EpochSums(loss + losses, right + rightOnes, seen + crops);
    }

    double meanLoss() {
        return loss / seen;
    }

    double accuracy() {
        return (double) right / seen;
    }
}
