package org.gramian.report.run;

import java.util.OptionalInt;

/**
 * Test image with its prediction.
 *
 * @param name full name
 * @param truth true class
 * @param predicted predicted class
 * @param probability of the predicted class, 0 to 1
 * @param ofTruth probability of the true class
 * @param image number on the {@link ImageSheet}, if present
 */
public record ShownImage(
        String name, String truth, String predicted, double probability, double ofTruth, OptionalInt image) {
    /** Returns the file name; folders mostly repeat the class. */
    public String fileName() {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    /** Returns whether the prediction is correct. */
    public boolean right() {
        return truth.equals(predicted);
    }

    /** Returns a description, for example as the accessible name. */
    public String text() {
        return name + ": " + truth
                + (right() ? ", predicted correctly" : ", predicted as " + predicted)
                + " (" + Figures.probability(probability) + ")";
    }

    /** Returns whether there is a thumbnail. */
    public boolean imaged() {
        return image.isPresent();
    }

    /** Returns the reference to the thumbnail. */
    public String reference() {
        return "#t" + image.orElse(-1);
    }
}
