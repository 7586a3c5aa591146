package org.gramian.autodiff.network;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Differentiable bilinear and bicubic resizing of feature maps {@code [n, c, h, w]} to {@code [n, c, H, W]}, and the
 * exact inverse of bilinear resizing on enlarged maps.
 *
 * <p>Interpolation is separable and linear, so each map becomes {@code Y = A·X·Bᵀ} with fixed matrices {@code
 * A [H, h]} and {@code B [W, w]}; the adjoint is {@code Aᵀ·G·B}. Two matrix products are deterministic on every device,
 * which the scattered additions of a GPU's interpolation gradient are not. Pixel centres lie at half-integers; bilinear
 * coordinates outside the map are clamped, as in {@code torch.nn.functional.interpolate(mode="bilinear",
 * align_corners=False)} and in ONNX's Resize with {@code half_pixel}: row i of A has weights {@code 1 − λ} at {@code
 * ⌊s⌋} and {@code λ} at {@code ⌊s⌋ + 1} with {@code s = max(0, (i + ½)·h/H − ½)} and {@code λ = s − ⌊s⌋}.
 */
public final class Interpolation {
    /** One direction of a resize: a matrix {@code [to, from]}. */
    private record Key(long from, long to, Kind kind, DType type, Device device) {}

    /** Bilinear resizing, its inverse, or bicubic resizing if there is a kernel. */
    private record Kind(boolean inverse, @Nullable Bicubic kernel) {
        static final Kind BILINEAR = new Kind(false, null);
        static final Kind UNDO = new Kind(true, null);

        double[] weights(int from, int to) {
            if (kernel != null) {
                return kernel.weights(from, to);
            }
            return inverse ? inverseWeights(to, from) : Interpolation.weights(from, to);
        }
    }

    /** A process uses few sizes; a CUDA graph may refer to any of them, so they are kept. */
    private static final Map<Key, Tensor> MATRICES = new ConcurrentHashMap<>();

    private Interpolation() {}

    /**
     * Resizes feature maps; returns them unchanged if they have the size.
     *
     * @param maps {@code [n, c, h, w]} of any floating-point type; {@link DType#BF16} is resized in float32 and rounded
     * @return {@code [n, c, height, width]}
     */
    public static Var resize(Var maps, long height, long width) {
        return map(maps, height, width, Kind.BILINEAR);
    }

    /**
     * Inverts {@link #resize} to a larger size: {@code X = A⁺·Y·B⁺ᵀ} with the pseudoinverse {@code A⁺ = (AᵀA)⁻¹Aᵀ}; for
     * other maps the least-squares solution.
     *
     * @param maps {@code [n, c, H, W]} with {@code H ≥ height} and {@code W ≥ width}
     * @return {@code [n, c, height, width]}
     * @throws IllegalArgumentException if the maps are smaller than the result
     */
    public static Var undoResize(Var maps, long height, long width) {
        Shape shape = requireMaps(maps);
        if (shape.at(2) < height || shape.at(3) < width) {
            throw new IllegalArgumentException("resizing can be undone for enlarged maps only: expected at least "
                    + height + "×" + width + ", found " + shape.at(2) + "×" + shape.at(3));
        }
        return map(maps, height, width, Kind.UNDO);
    }

    /**
     * Bicubic resizing.
     *
     * <p>Source coordinates are {@code s = (i + ½)/ratio − ½} with {@code ratio = (to + offset)/from}. Plain resizing
     * weighs the four nearest rows, clamped to the map, by Keys' kernel with {@code a = −¾}; with antialiasing it is
     * {@code a = −½}, widened by {@code 1/ratio} where the map shrinks, cut off at the border and divided by the sum of
     * the weights. Both are as in {@code torch.nn.functional.interpolate(mode="bicubic", antialias=…)} (Keys, "Cubic
     * Convolution Interpolation for Digital Image Processing", 1981).
     *
     * @param antialias whether rows are averaged where the map shrinks
     * @param offset added to the size for the ratio only; DINOv2 uses 0.1
     */
    public record Bicubic(boolean antialias, double offset) {
        /** Returns the matrix {@code [to, from]} that interpolates a row of that many values, row by row. */
        public double[] weights(int from, int to) {
            double step = from / (to + offset);
            double widening = antialias ? Math.max(1, step) : 1;
            double[] matrix = new double[to * from];
            for (int i = 0; i < to; i++) {
                double place = (i + 0.5) * step - 0.5;
                double total = 0;
                for (int j = (int) Math.ceil(place - 2 * widening); j <= place + 2 * widening; j++) {
                    if (!antialias || (j >= 0 && j < from)) {
                        double weight = keys((j - place) / widening, antialias ? -0.5 : -0.75);
                        matrix[i * from + Math.clamp(j, 0, from - 1)] += weight;
                        total += weight;
                    }
                }
                for (int j = 0; j < from; j++) {
                    matrix[i * from + j] /= total;
                }
            }
            return matrix;
        }

        private static double keys(double x, double a) {
            double t = Math.abs(x);
            if (t < 1) {
                return ((a + 2) * t - (a + 3)) * t * t + 1;
            }
            return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
        }
    }

    /**
     * Resizes maps with a bicubic kernel, by two matrix products; returns them unchanged if they have the size.
     *
     * @param maps {@code [n, c, h, w]}
     * @return {@code [n, c, height, width]}
     */
    public static Var resize(Var maps, long height, long width, Bicubic kernel) {
        return map(maps, height, width, new Kind(false, kernel));
    }

    private static Shape requireMaps(Var maps) {
        if (maps.shape().rank() != 4) {
            throw new IllegalArgumentException("resize: expected maps [n, c, h, w], found " + maps.value());
        }
        return maps.shape();
    }

    private static Var map(Var maps, long height, long width, Kind kind) {
        Shape shape = requireMaps(maps);
        if (shape.at(2) == height && shape.at(3) == width) {
            return maps;
        }
        if (maps.value().type() == DType.BF16) {
            return map(maps.to(DType.F32), height, width, kind).to(DType.BF16);
        }
        Tensor x = maps.value();
        Tensor rows = matrix(shape.at(2), height, kind, x);
        Tensor columns = matrix(shape.at(3), width, kind, x);
        return maps.map(v -> product(rows, v, columns), (g, y) -> product(rows.transpose(), g, columns.transpose()));
    }

    /** Computes {@code A·X·Bᵀ} for each map. */
    private static Tensor product(Tensor a, Tensor x, Tensor b) {
        long maps = x.size(0) * x.size(1);
        Tensor wide = x.reshape(maps * x.size(2), x.size(3)).matmul(b.transpose());
        Tensor resized = a.matmul(wide.reshape(maps, x.size(2), b.size(0)));
        return resized.reshape(x.size(0), x.size(1), a.size(0), b.size(0));
    }

    private static Tensor matrix(long from, long to, Kind kind, Tensor like) {
        return MATRICES.computeIfAbsent(new Key(from, to, kind, like.type(), like.device()), Interpolation::make);
    }

    private static Tensor make(Key key) {
        int from = Math.toIntExact(key.from());
        int to = Math.toIntExact(key.to());
        double[] values = key.kind().weights(from, to);
        try (Scope _ = Scope.open()) {
            Tensor made = Tensors.of(values, Shape.of(to, from), key.type()).to(key.device());
            Scope.detach(made);
            return made;
        }
    }

    /** Returns the matrix {@code [to, from]} that interpolates a row of that many values, row by row. */
    public static double[] weights(int from, int to) {
        if (from < 1 || to < 1) {
            throw new IllegalArgumentException(
                    "resize: expected at least 1 row and column, found " + from + " to " + to);
        }
        double[] matrix = new double[to * from];
        for (int i = 0; i < to; i++) {
            double place = Math.max(0, (i + 0.5) * from / to - 0.5);
            int before = Math.min((int) place, from - 1);
            int after = Math.min(before + 1, from - 1);
            double share = place - before;
            matrix[i * from + before] += 1 - share;
            matrix[i * from + after] += share;
        }
        return matrix;
    }

    /** Returns the pseudoinverse {@code [from, to]} of {@link #weights}, row by row; {@code to ≥ from}. */
    public static double[] inverseWeights(int from, int to) {
        double[] a = weights(from, to);
        double[][] system = new double[from][from + to]; // [AᵀA | Aᵀ], solved by Gauss-Jordan elimination
        for (int i = 0; i < from; i++) {
            for (int k = 0; k < to; k++) {
                system[i][from + k] = a[k * from + i];
                for (int j = 0; j < from; j++) {
                    system[i][j] += a[k * from + i] * a[k * from + j];
                }
            }
        }
        for (int i = 0; i < from; i++) { // symmetric and positive definite: no pivoting
            double pivot = system[i][i];
            for (int j = 0; j < from + to; j++) {
                system[i][j] /= pivot;
            }
            for (int row = 0; row < from; row++) {
                double factor = row == i ? 0 : system[row][i];
                for (int j = i; factor != 0 && j < from + to; j++) {
                    system[row][j] -= factor * system[i][j];
                }
            }
        }
        double[] inverse = new double[from * to];
        for (int i = 0; i < from; i++) {
            System.arraycopy(system[i], from, inverse, i * to, to);
        }
        return inverse;
    }
}
