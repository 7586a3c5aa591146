package org.gramian.train.loop;

import java.io.Serializable;
import java.util.Locale;

/**
 * Origin of a non-finite loss: the first NaN or infinite value of a step, found by a {@link NonFiniteSearch}, and advice.
 *
 * @param kind of the value
 * @param place the value itself, as {@code the kernel rbf of the pooling}
 * @param before the finite value before it; empty if there is none
 * @param largest magnitude in that value; 0 if there is none
 */
public record NonFinite(Kind kind, String place, String before, double largest) implements Serializable {
    /** Kinds of values in a step, each with advice. */
    public enum Kind {
        /** Targets of the loss. */
        TARGETS("this is a bug in the program, not in the data: please report it"),
        /** A trained or loaded parameter. */
        PARAMETER("an earlier step diverged: lower the learning rate (--lr), or use warm-up;"
                + " before the first step, check the weight file with `gramian weights verify`"),
        /** Images or features of the batch. */
        INPUT("an image or a cached feature is damaged: run `gramian audit`, and train once with --no-cache"),
        /** Feature maps of the backbone. */
        BACKBONE("its feature maps overflow: lower the learning rate of the backbone, or freeze it"),
        /** Feature maps, matrices or vectors of the pooling. */
        POOLING("give the kernel more jitter (as in rbf:jitter=0.001), put reeig:0.0001 before log, sqrt or power,"
                + " give root an eps above 0 (root:eps=0.00001), or lower the learning rate (--lr)"),
        /** Scores of the classes. */
        SCORES("lower the learning rate (--lr), or end the pooling with l2 to keep the descriptor norm constant"),
        /** The loss. */
        LOSS("lower the learning rate (--lr): the scores are too large"),
        /** A gradient, after a finite forward pass. */
        GRADIENT("lower the learning rate (--lr), give root an eps above 0 (root:eps=0.00001), and the kernel more"
                + " jitter: gradients are unbounded at zeros and at equal eigenvalues"),
        /** All values were finite in the repeated step. */
        NOWHERE("repeating the step gives finite values only: try --deterministic, and if it recurs"
                + " on a GPU, check its memory");

        private final String advice;

        Kind(String advice) {
            this.advice = advice;
        }

        /** Returns what to try. */
        public String advice() {
            return advice;
        }
    }

    /** Returns the place, the value before it, and advice, in one sentence each. */
    public String text() {
        String where = kind == Kind.NOWHERE ? "found no NaN or infinity" : "the first NaN or infinity is in " + place;
        String former = before.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT, ". The value before it is %s, with a largest magnitude of %.3g", before, largest);
        return where + former + ". What to try: " + kind.advice() + ".";
    }

    /**
     * A non-finite loss or gradient of a step, found before the parameters change.
     *
     * @param gradient whether it is a gradient, not the loss
     * @param origin of the value
     */
    public record InStep(boolean gradient, NonFinite origin) implements Serializable {
        /** Returns the exception at a step. */
        NonFiniteLossException in(TrainingProgress progress) {
            return gradient
                    ? NonFiniteLossException.ofGradient(progress, origin)
                    : NonFiniteLossException.ofLoss(progress, origin);
        }
    }
}
