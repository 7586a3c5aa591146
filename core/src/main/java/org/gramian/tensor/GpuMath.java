package org.gramian.tensor;

/**
 * How libtorch computes on GPUs: switches that are global in it.
 *
 * @param tf32 whether float32 products and convolutions may use TF32 (ten bits of mantissa): faster, less exact
 * @param reproducible whether cuDNN chooses reproducible algorithms only
 * @param trials whether cuDNN tries all its algorithms for each new shape and keeps the fastest: pays where few shapes come
 *     often, and is not reproducible
 */
public record GpuMath(boolean tf32, boolean reproducible, boolean trials) {
    public GpuMath {
        if (reproducible && trials) {
            throw new IllegalArgumentException(
                    "cuDNN autotuning is not deterministic: expected one of the two, found both");
        }
    }

    /** Full single precision, as every process begins. */
    public static final GpuMath USUAL = new GpuMath(false, false, false);

    /** Full single precision by reproducible algorithms: for what is kept and compared. */
    public static final GpuMath EXACT = new GpuMath(false, true, false);

    /** The same with or without TF32. */
    public GpuMath withTf32(boolean allowed) {
        return new GpuMath(allowed, reproducible, trials);
    }

    /** The same with cuDNN's trials, unless it is to be reproducible. */
    public GpuMath withTrials() {
        return new GpuMath(tf32, reproducible, !reproducible);
    }
}
