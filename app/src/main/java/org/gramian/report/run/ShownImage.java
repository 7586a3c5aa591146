package org.gramian.report.run;

import java.util.OptionalInt;

/**
 * A test image on the page.
 *
 * @param name its whole name
 * @param truth its class
 * @param answer the class that the model named
 * @param probability how sure the model was of its answer, 0 to 1
 * @param ofTruth how probable it found the true class
 * @param image its number on the {@link ImageSheet}, where it is there
 */
public record ShownImage(
        String name, String truth, String answer, double probability, double ofTruth, OptionalInt image) {
    /** The name of its file; folders mostly say the class again. */
    public String fileName() {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    /** Whether the answer is right. */
    public boolean right() {
        return truth.equals(answer);
    }

    /** In a sentence, for those who cannot see it. */
    public String text() {
        return name + ": " + truth
                + (right() ? ", predicted correctly" : ", predicted as " + answer)
                + " (" + Figures.probability(probability) + ")";
    }

    /** Whether there is an image. */
    public boolean imaged() {
        return image.isPresent();
    }

    /** The reference to the image. */
    public String reference() {
        return "#t" + image.orElse(-1);
    }
}
