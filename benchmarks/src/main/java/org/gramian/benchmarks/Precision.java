package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/** In which numbers both sides compute. */
public enum Precision {
    /** Single precision everywhere. */
    F32(1e-3),
    /** Single precision whose products and convolutions may round their factors to ten bits of mantissa; on the GPU alone. */
    TF32(1e-2),
    /**
     * Convolutions of the backbone in bfloat16, channels last; parameters, head and optimizer in single precision, with
     * the rounding of {@link #TF32} on the GPU. It says nothing of a head without a backbone.
     */
    BF16(5e-2);

    private final double tolerance;

    Precision(double tolerance) {
        this.tolerance = tolerance;
    }

    /** How far numbers of two right programs may lie apart, relative to the larger. */
    double tolerance() {
        return tolerance;
    }

    /** The name on the command line, as {@code tf32}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The precision of a name.
     *
     * @throws IllegalArgumentException if there is none; the message lists those that there are
     */
    public static Precision parse(String text) {
        return Arrays.stream(values())
                .filter(precision -> precision.text().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown precision '" + text + "'; expected one of "
                        + Arrays.stream(values()).map(Precision::text).collect(Collectors.joining(", "))));
    }

    /** The type in which a matrix product is computed to find the ceiling. */
    DType ofProducts() {
        return this == BF16 ? DType.BF16 : DType.F32;
    }

    void requireOn(Device device) {
        if (this == TF32 && device.kind() == Device.Kind.CPU) {
            throw new IllegalArgumentException("tf32 needs a GPU; on the CPU use f32 or bf16");
        }
    }
}
