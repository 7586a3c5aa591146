package org.gramian.serve;

import java.time.Duration;

/**
 * How long pictures and explanations take to compute, learnt from those that were; not for several threads at once.
 *
 * <p>A picture is taken to need no time until the first was computed, and an explanation so much that a request of most pictures
 * is just answered in time.
 */
final class Pace {
    /** How much of what was learnt before stays after one more. */
    private static final double REMEMBERED = 0.8;

    private final double firstGuess;
    private double picture;
    private double explanation;

    Pace(Limits limits) {
        this.firstGuess = seconds(limits.load().answer()) / limits.upload().pictures();
    }

    static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }

    /** Learns how long some pictures took that were computed together. */
    void pictures(int count, Duration time) {
        picture = learnt(picture, count, time);
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
    double known(int pictures, int explanations) {
        return pictures * picture + explanations * explanation;
    }
}
