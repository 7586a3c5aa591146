package org.gramian.basis;

import java.util.Arrays;
import java.util.Random;

/**
 * Count sketch: shortens descriptors and approximately preserves their distances.
 *
 * <p>Every index {@code i} of a descriptor {@code x} of length {@code d} has a fixed random bin {@code h(i)} of {@code m = 1024}
 * and sign {@code s(i)}:
 *
 * <pre>
 * (S·x)ⱼ = Σ s(i)·xᵢ over the i with h(i) = j
 * </pre>
 *
 * <p>{@code S} is linear, and over the draws {@code E⟨S·x, S·y⟩ = ⟨x, y⟩} with a variance of at most {@code
 * 2/m·‖x‖²‖y‖²}: squared distances {@code ‖S·x − S·y‖²} have a relative error of about {@code √(2/m)}, here 4.4 %. Descriptors
 * of at most {@code m} numbers are kept whole, and so are their distances.
 *
 * @see <a href="https://doi.org/10.1007/3-540-45465-9_59">Charikar, Chen and Farach-Colton, Finding Frequent Items in Data
 *     Streams (2002)</a>; Pham and Pagh, Fast and Scalable Polynomial Kernels via Explicit Feature Maps (2013)
 */
public final class CountSketch {
    /** Largest length of a short descriptor: 2 kB in float16. */
    public static final int LENGTH = 1024;

    /** Longest descriptor accepted from a file. */
    public static final int MAX_SIZE = 1 << 26;

    private static final long SEED = 0x6772616d69616eL;

    private final int descriptorSize;
    private final int[] bins;
    private final boolean[] negative;

    private CountSketch(int descriptorSize) {
        this.descriptorSize = descriptorSize;
        int drawn = descriptorSize > LENGTH ? descriptorSize : 0;
        bins = new int[drawn];
        negative = new boolean[drawn];
        // java.util.Random: its algorithm is specified, so the sketch is the same in every version of Java.
        Random random = new Random(SEED);
        for (int i = 0; i < drawn; i++) {
            bins[i] = random.nextInt(LENGTH);
            negative[i] = random.nextBoolean();
        }
    }

    /** Returns the sketch for descriptors of one length; the same on every machine. */
    public static CountSketch of(long descriptorSize) {
        if (descriptorSize < 1 || descriptorSize > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "expected descriptors of 1 to " + MAX_SIZE + " numbers, found " + descriptorSize);
        }
        return new CountSketch((int) descriptorSize);
    }

    public static int lengthOf(int descriptorSize) {
        return Math.min(descriptorSize, LENGTH);
    }

    /**
     * Returns the short descriptor of an image from those of its crops: their mean, normalized to a unit vector, sketched, and
     * rounded to float16 as in a gallery. A zero mean stays zero.
     */
    public float[] describe(float[][] crops) {
        if (crops.length == 0) {
            throw new IllegalArgumentException("expected the descriptor of at least one crop, found none");
        }
        double[] mean = new double[descriptorSize];
        for (float[] crop : crops) {
            if (crop.length != descriptorSize) {
                throw new IllegalArgumentException(
                        "expected a descriptor of " + descriptorSize + " numbers, found " + crop.length);
            }
            for (int i = 0; i < mean.length; i++) {
                mean[i] += crop[i];
            }
        }
        double length = length(mean);
        if (!Double.isFinite(length)) {
            throw new IllegalArgumentException(
                    "expected descriptors of finite numbers, found a length of " + length + "; is the model damaged?");
        }
        double[] sketched = ofUnit(mean, length);
        float[] vector = new float[sketched.length];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = Float.float16ToFloat(Float.floatToFloat16((float) sketched[i]));
        }
        return vector;
    }

    public int descriptorSize() {
        return descriptorSize;
    }

    /** Returns the sketch of a unit vector in the direction of a descriptor; zeros of zeros. */
    public double[] normalized(float[] descriptor) {
        double[] wide = new double[descriptor.length];
        Arrays.setAll(wide, i -> descriptor[i]);
        return ofUnit(wide, length(wide));
    }

    private static double length(double[] vector) {
        return Math.sqrt(Arrays.stream(vector).map(x -> x * x).sum());
    }

    /** Divides a vector by its length, unless it is 0, and returns the sketch. */
    private double[] ofUnit(double[] vector, double length) {
        if (length > 0) {
            Arrays.setAll(vector, i -> vector[i] / length);
        }
        return apply(vector);
    }

    /** Returns the indices of the descriptor that each element of a sketch sums, shorter lists filled with -1, {@code [m][n]}; empty if nothing is summed. */
    public int[][] summed() {
        if (bins.length == 0) {
            return new int[0][];
        }
        int[] counts = new int[LENGTH];
        for (int bin : bins) {
            counts[bin]++;
        }
        int[][] all = new int[LENGTH][Arrays.stream(counts).max().orElseThrow()];
        for (int[] each : all) {
            Arrays.fill(each, -1);
        }
        for (int i = bins.length - 1; i >= 0; i--) {
            all[bins[i]][--counts[bins[i]]] = i;
        }
        return all;
    }

    /** Returns the sign of an element of the descriptor in the sketch. */
    public int sign(int index) {
        return negative[index] ? -1 : 1;
    }

    /** Returns the sketch of a descriptor; the descriptor itself if it is short already. */
    double[] apply(double[] descriptor) {
        if (bins.length == 0) {
            return descriptor;
        }
        double[] sums = new double[LENGTH];
        for (int i = 0; i < descriptor.length; i++) {
            sums[bins[i]] += negative[i] ? -descriptor[i] : descriptor[i];
        }
        return sums;
    }
}
