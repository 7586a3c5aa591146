package org.gramian.testing;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Weights and images by a formula, the same as in scripts/golden/formula.py, so that networks of two programs can be
 * compared without a weight file.
 *
 * <p>Element i of a tensor is v in [−1, 1), a hash of i and the tensor's name, scaled by {@link #scaled}.
 */
public final class FormulaWeights {
    private FormulaWeights() {}

    /** Creates the tensor of a name, rounded to float32 before it is converted. */
    public static Tensor tensor(String name, Shape shape, DType type) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        int start = (int) crc.getValue();
        double[] values = new double[Math.toIntExact(shape.elements())];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) scaled(name, shape, hash(start + i * 0x9E3779B1) / 0x1p31 - 1);
        }
        return Tensors.of(values, shape, type);
    }

    /** Returns images {@code [n, 3, h, w]}. */
    public static Tensor images(long count, long height, long width, DType type) {
        return tensor("image", Shape.of(count, 3, height, width), type);
    }

    private static double scaled(String name, Shape shape, double v) {
        if (name.equals("image")) {
            return v;
        }
        if (shape.rank() > 1) {
            return v * Math.sqrt(3.0 * shape.at(0) / shape.elements());
        }
        if (name.endsWith("running_var")) {
            return 1 + 0.5 * Math.abs(v);
        }
        boolean scale = name.endsWith("weight") || name.endsWith("gamma") || name.endsWith("layer_scale");
        return scale ? 1 + 0.1 * v : 0.1 * v;
    }

    private static double hash(int seed) {
        int x = seed;
        x ^= x >>> 16;
        x *= 0x85EBCA77;
        x ^= x >>> 13;
        x *= 0xC2B2AE3D;
        x ^= x >>> 16;
        return Integer.toUnsignedLong(x);
    }
}
