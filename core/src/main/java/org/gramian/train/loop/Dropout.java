package org.gramian.train.loop;

import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.GpuStepState;

/**
 * Dropout on descriptors {@code [n, d]} during one epoch of training: each element becomes 0 with probability p, else {@code
 * v/(1 − p)}, so that its expectation stays v (Srivastava et al., JMLR 2014).
 *
 * <p>Whether element j of example i is dropped follows from a hash of (seed, stage, epoch, i, j) alone, where i is the example's
 * index in the training set. An epoch has each example once, so masks differ from step to step; and they are the same after a
 * resume, on a GPU, and for an example whose gradient another machine computes. The hash is SplitMix64's finalizer (Steele, Lea
 * and Flood, OOPSLA 2014) applied twice.
 *
 * @param rate p, at least 0 and below 1
 * @param key of the epoch, below 2^52, so that a double holds it exactly
 */
public record Dropout(double rate, long key) {
    public static final Dropout NONE = new Dropout(0, 0);

    private static final int KEY_BITS = 52;
    private static final int DRAW_BITS = 24;
    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

    public static Dropout of(double rate, long seed, int stage, int epoch) {
        long ofStage = mix(mix(seed) + stage * GOLDEN_RATIO);
        return new Dropout(rate, mix(ofStage + (epoch + 1) * GOLDEN_RATIO) >>> (Long.SIZE - KEY_BITS));
    }

    @FunctionalInterface
    public interface BatchDropout {
        Var apply(Var descriptors);

        /** Returns {@code [n, columns]} draws in [0, 1) row by row, for stages of a pooling that drop by themselves. */
        default double[] randomInputs(int columns) {
            throw new UnsupportedOperationException("no random draws for a pooling in a CUDA graph");
        }
    }

    BatchDropout of(int[] indices) {
        return new BatchDropout() {
            @Override
            public Var apply(Var descriptors) {
                return Dropout.this.apply(descriptors, indices);
            }

            @Override
            public double[] randomInputs(int columns) {
                double[] draws = new double[Math.multiplyExact(indices.length, columns)];
                for (int i = 0; i < indices.length; i++) {
                    long row = mix(~key + (indices[i] + 1L) * GOLDEN_RATIO); // other draws than those of descriptors
                    for (int j = 0; j < columns; j++) {
                        draws[i * columns + j] = (double) draw(row, j) / (1 << DRAW_BITS);
                    }
                }
                return draws;
            }
        };
    }

    private static long draw(long row, int column) {
        return mix(row + (column + 1L) * GOLDEN_RATIO) >>> (Long.SIZE - DRAW_BITS);
    }

    /** Returns descriptors with elements dropped; unchanged for a rate of 0. */
    Var apply(Var descriptors, int[] indices) {
        if (rate == 0) {
            return descriptors;
        }
        int columns = Math.toIntExact(descriptors.shape().at(1));
        Tensor value = descriptors.value();
        // Var.mul keeps a reference only, and this tensor lives as long as the caller's scope.
        Tensor factors = Tensors.of(factors(indices, columns), value.shape(), value.type())
                .to(value.device());
        return descriptors.mul(descriptors.tape().constant(factors));
    }

    /** The same in a CUDA graph, which reads the key from the cells. */
    Var apply(Var descriptors, Tensor indices, GpuStepState cells) {
        if (rate == 0) {
            return descriptors;
        }
        Tensor factors = cells.dropout(indices, descriptors.shape().at(1), dropped(), kept());
        return descriptors.mul(descriptors.tape().constant(factors));
    }

    /** Returns {@code [n, d]} factors row by row: 0 or {@code 1/(1 − p)}. */
    double[] factors(int[] indices, int columns) {
        double[] factors = new double[Math.multiplyExact(indices.length, columns)];
        int dropped = dropped();
        float kept = kept();
        for (int i = 0; i < indices.length; i++) {
            long row = mix(key + (indices[i] + 1L) * GOLDEN_RATIO);
            for (int j = 0; j < columns; j++) {
                factors[i * columns + j] = draw(row, j) < dropped ? 0 : kept;
            }
        }
        return factors;
    }

    private int dropped() {
        return (int) Math.round(rate * (1 << DRAW_BITS));
    }

    private float kept() {
        return (float) (1 / (1 - rate));
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
