package org.gramian.tensor.library;

/**
 * Global switches of libtorch for computation on GPUs.
 *
 * @param tf32 whether float32 products and convolutions may use TF32 (10-bit mantissa): faster, less exact
 * @param reproducible whether cuDNN uses deterministic algorithms only
 * @param trials whether cuDNN benchmarks its algorithms for each new shape: pays off for few shapes, not deterministic
 */
public record GpuMath(boolean tf32, boolean reproducible, boolean trials) {
    public GpuMath {
        if (reproducible && trials) {
            throw new IllegalArgumentException(
                    "cuDNN autotuning is not deterministic: expected one of the two, found both");
        }
    }

    /** Full float32, the default of every process. */
    public static final GpuMath DEFAULT = new GpuMath(false, false, false);

    /** Full float32 with deterministic algorithms, for results that are stored and compared. */
    public static final GpuMath EXACT = new GpuMath(false, true, false);

    public GpuMath withTf32(boolean allowed) {
        return new GpuMath(allowed, reproducible, trials);
    }

    /** Returns this mode with cuDNN benchmarking, unless it is deterministic. */
    public GpuMath withTrials() {
        return new GpuMath(tf32, reproducible, !reproducible);
    }
}
