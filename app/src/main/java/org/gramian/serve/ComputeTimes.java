package org.gramian.serve;

import java.time.Duration;

/**
 * How long images and explanations take to compute, learnt from those that were; not for several threads at once.
 *
 * <p>An image is taken to need no time until the first was computed, and an explanation so much that a request of most images
 * is just answered in time.
 */
final class ComputeTimes {
    /** How much of what was learnt before stays after one more. */
    private static final double REMEMBERED = 0.8;

    private final double firstGuess;
    private double image;
    private double explanation;

    ComputeTimes(Limits limits) {
        this.firstGuess = seconds(limits.load().answer()) / limits.upload().images();
    }

    static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }

    /** Learns how long some images took that were computed together. */
    void images(int count, Duration time) {
        image = learnt(image, count, time);
    }

    /** Learns how long an explanation took. */
    void explanation(Duration time) {
        explanation = learnt(explanation, 1, time);
    }

    private static double learnt(double before, int count, Duration time) {
        double kept = before == 0 ? 0 : Math.pow(REMEMBERED, count);
        return kept * before + (1 - kept) * seconds(time) / count;
    }

    /** What so many explanations take, guessed where none was computed yet. */
    double ofExplanations(int count) {
        return count * (explanation == 0 ? firstGuess : explanation);
    }

    /** What both are known to take: 0 where nothing was computed yet. */
    double known(int images, int explanations) {
        return images * image + explanations * explanation;
    }
}
