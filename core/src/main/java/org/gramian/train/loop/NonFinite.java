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
        TARGETS("this is a mistake in the program, not in the data: please report it"),
        /** Something that training moves, or that was loaded. */
        PARAMETER("an earlier step moved it there: lower the learning rate (--lr), or warm it up;"
                + " if no step was made yet, check the weight file with `gramian weights verify`"),
        /** What is trained on. */
        INPUT(
                "an image or a kept feature is damaged: look at `gramian audit`, and train once without the feature cache"),
        /** Maps of the backbone. */
        BACKBONE("its maps outgrow their type: lower the learning rate of the backbone, or keep it frozen"),
        /** Maps, matrices or vectors of the pooling. */
        POOLING("give the kernel more jitter (as in rbf:jitter=0.001), put reeig:0.0001 before log, sqrt or power,"
                + " give root an eps above 0 (root:eps=0.00001), or lower the learning rate (--lr)"),
        /** Scores of the classes. */
        SCORES("lower the learning rate (--lr), or end the pooling with l2, so that descriptors stay of one size"),
        /** The loss. */
        LOSS("lower the learning rate (--lr): the scores are too far apart"),
        /** A gradient: all values on the way there are finite. */
        GRADIENT(
                "lower the learning rate (--lr), give root an eps above 0 (root:eps=0.00001), and the kernel more jitter:"
                        + " slopes grow without bound at zeros and at equal eigenvalues"),
        /** Everything was finite when it was computed again. */
        NOWHERE("computing the same step again gives finite numbers only: try --deterministic, and if it comes back"
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
        String where = kind == Kind.NOWHERE
                ? "nothing that is not a finite number was found"
                : "the first value that is not a finite number is in " + place;
        String former = before.isEmpty()
                ? ""
                : String.format(Locale.ROOT, ". Before it comes %s, with a largest magnitude of %.3g", before, largest);
        return where + former + ". What to try: " + kind.advice() + ".";
    }
}
