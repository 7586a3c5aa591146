package org.gramian.report.run;

import java.util.OptionalInt;

/**
 * Test image with its prediction, as the HTML report shows it.
 *
 * @param name name of the sample: its path in the dataset
 * @param truth true class
 * @param predicted predicted class
 * @param probability probability of the predicted class, 0 to 1
 * @param ofTruth probability of the true class, 0 to 1
 * @param image number of its thumbnail on the {@link ImageSheet}; empty if there is none
 */
public record TestPrediction(
        String name, String truth, String predicted, double probability, double ofTruth, OptionalInt image) {
    /** Returns the file name without folders, which mostly repeat the class. */
    public String fileName() {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    /** Returns whether the prediction is correct. */
    public boolean right() {
        return truth.equals(predicted);
    }

    /** Returns a one-line description, e.g. as the alternative text of the image. */
    public String text() {
        return name + ": " + truth
                + (right() ? ", predicted correctly" : ", predicted as " + predicted)
                + " (" + Figures.probability(probability) + ")";
    }

    /** Returns whether there is a thumbnail. */
    public boolean imaged() {
        return image.isPresent();
    }

    /** Returns the fragment identifier of the thumbnail, e.g. {@code #t12}. */
    public String reference() {
        return "#t" + image.orElse(-1);
    }
}
