package org.gramian.evaluate;

/**
 * How one class fared.
 *
 * @param name the class
 * @param support how many images are of it
 * @param predicted number of images predicted as it
 * @param right how many of these are of it
 */
public record ClassScore(String name, int support, int predicted, int right) {
    /** {@code right / predicted}; 0 for a class that was never predicted. */
    public double precision() {
        return predicted == 0 ? 0 : (double) right / predicted;
    }

    /** {@code right / support}; 0 for a class without images. */
    public double recall() {
        return support == 0 ? 0 : (double) right / support;
    }

    /** The harmonic mean of both, {@code 2 right / (support + predicted)}; 0 where none was right. */
    public double f1() {
        return right == 0 ? 0 : 2.0 * right / (support + predicted);
    }
}
