package org.gramian.train.loop;

import java.io.Serializable;
import java.util.Locale;

/**
 * Where a loss that is no finite number came from: the first value of a step that is NaN or infinite, and what to try.
 *
 * <p>{@link NonFiniteSearch} finds it; the text is for the person who trains.
 *
 * @param kind what sort of value it is
 * @param place the value itself, as {@code the kernel rbf of the pooling}
 * @param before the value before it, which is finite; empty if there is none
 * @param largest the largest magnitude in that one; 0 if there is none
 */
public record NonFinite(Kind kind, String place, String before, double largest) implements Serializable {
    /** The sorts of values in a step, each with what helps. */
    public enum Kind {
        /** What the loss compares with. */
        TARGETS("this is a bug in the program, not in the data: please report it"),
        /** Something that training moves, or that was loaded. */
        PARAMETER("an earlier step diverged: lower the learning rate (--lr), or use warm-up;"
                + " before the first step, check the weight file with `gramian weights verify`"),
        /** What is trained on. */
        INPUT("an image or a cached feature is damaged: run `gramian audit`, and train once with --no-cache"),
        /** Maps of the backbone. */
        BACKBONE("its feature maps overflow: lower the learning rate of the backbone, or freeze it"),
        /** Maps, matrices or vectors of the pooling. */
        POOLING("give the kernel more jitter (as in rbf:jitter=0.001), put reeig:0.0001 before log, sqrt or power,"
                + " give root an eps above 0 (root:eps=0.00001), or lower the learning rate (--lr)"),
        /** Scores of the classes. */
        SCORES("lower the learning rate (--lr), or end the pooling with l2 to keep the descriptor norm constant"),
        /** The loss. */
        LOSS("lower the learning rate (--lr): the scores are too large"),
        /** A gradient: all values on the way there are finite. */
        GRADIENT("lower the learning rate (--lr), give root an eps above 0 (root:eps=0.00001), and the kernel more"
                + " jitter: gradients are unbounded at zeros and at equal eigenvalues"),
        /** Everything was finite when it was computed again. */
        NOWHERE("repeating the step gives finite values only: try --deterministic, and if it recurs"
                + " on a GPU, check its memory");

        private final String advice;

        Kind(String advice) {
            this.advice = advice;
        }

        /** What to try. */
        public String advice() {
            return advice;
        }
    }

    /** One sentence on where it arose, one on what was before, one on what to try. */
    public String text() {
        String where = kind == Kind.NOWHERE ? "found no NaN or infinity" : "the first NaN or infinity is in " + place;
        String former = before.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT, ". The value before it is %s, with a largest magnitude of %.3g", before, largest);
        return where + former + ". What to try: " + kind.advice() + ".";
    }
}
