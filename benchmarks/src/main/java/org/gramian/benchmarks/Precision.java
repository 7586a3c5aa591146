package org.gramian.benchmarks;

import org.gramian.basis.EnumWords;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/** Precision of the computation on all sides. */
public enum Precision {
    /** float32 everywhere. */
    F32(1e-3),
    /** float32 with TF32 matrix products and convolutions; GPU only. */
    TF32(1e-2),
    /**
     * Convolutions of the backbone in bfloat16, channels last; parameters, head and optimizer in float32, with
     * {@link #TF32} on the GPU. Does not apply to a head without a backbone.
     */
    BF16(5e-2);

    private final double tolerance;

    Precision(double tolerance) {
        this.tolerance = tolerance;
    }

    /** Returns the relative tolerance between two sides. */
    double tolerance() {
        return tolerance;
    }

    /** Returns the name on the command line, as {@code tf32}. */
    public String text() {
        return EnumWords.text(this);
    }

    /**
     * Parses a name.
     *
     * @throws IllegalArgumentException if the name is unknown; the message lists the names
     */
    public static Precision parse(String text) {
        return EnumWords.parse(Precision.class, "precision", text);
    }

    /** Returns the type of the matrix product that measures the peak rate. */
    DType ofProducts() {
        return this == BF16 ? DType.BF16 : DType.F32;
    }

    void requireOn(Device device) {
        if (this == TF32 && device.kind() == Device.Kind.CPU) {
            throw new IllegalArgumentException("tf32 needs a GPU; on the CPU use f32 or bf16");
        }
    }
}
