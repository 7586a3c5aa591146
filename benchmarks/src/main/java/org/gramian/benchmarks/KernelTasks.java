package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** Gaussian kernel matrix of one image, by the double loop of the definition and by matrix products. */
final class KernelTasks {
    private KernelTasks() {}

    /**
     * Gaussian kernel matrix of one image by the double loop of the definition: {@code K_ij = exp(−‖f_i − f_j‖² /
     * 2σ²)} with σ the mean distance of different feature maps.
     */
    static final class Loop implements Task {
        static final String NAME = "definition-loop";

        private final float[][] maps;

        Loop(TaskSpec spec) {
            int channels = spec.number("channels");
            int positions = spec.number("side") * spec.number("side");
            maps = new float[channels][positions];
            for (int i = 0; i < channels; i++) {
                for (int p = 0; p < positions; p++) {
                    maps[i][p] = (float) (SyntheticValues.at((long) i * positions + p, 1) * 2);
                }
            }
        }

        @Override
        public SequencedMap<String, Double> check() {
            return summary(kernel());
        }

        @Override
        public void run() {
            kernel();
        }

        private float[] kernel() {
            int channels = maps.length;
            float[] k = new float[channels * channels];
            double sum = 0;
            for (int i = 0; i < channels; i++) {
                for (int j = 0; j < channels; j++) {
                    float square = squaredDistance(maps[i], maps[j]);
                    k[i * channels + j] = square;
                    sum += Math.sqrt(square);
                }
            }
            double sigma = sum / ((double) channels * (channels - 1));
            for (int i = 0; i < k.length; i++) {
                k[i] = (float) Math.exp(-k[i] / (2 * sigma * sigma));
            }
            return k;
        }

        private static float squaredDistance(float[] a, float[] b) {
            float sum = 0;
            for (int p = 0; p < a.length; p++) {
                float difference = a[p] - b[p];
                sum += difference * difference;
            }
            return sum;
        }
    }

    /** Gaussian kernel matrix of one image by matrix products, as {@link Rbf} computes it. */
    static final class MatrixForm implements Task {
        private static final Rbf KERNEL = new Rbf(new Sigma.Mean(), 0);

        private final Tensor maps;

        MatrixForm(TaskSpec spec) {
            this.maps = SyntheticValues.uniform(shape(spec), 1, 1, spec.device());
        }

        /** Returns the shape of the feature maps, {@code [1, C, N]}. */
        static Shape shape(TaskSpec spec) {
            return Shape.of(1, spec.number("channels"), (long) spec.number("side") * spec.number("side"));
        }

        @Override
        public SequencedMap<String, Double> check() {
            return kernel(k -> summary(k.toFloats()));
        }

        @Override
        public void run() {
            kernel(_ -> null);
        }

        private <R extends @Nullable Object> R kernel(Function<Tensor, R> reading) {
            try (Tape tape = Tape.inference()) {
                return reading.apply(
                        KERNEL.apply(tape.constant(maps), Bindings.of(Map.of())).value());
            }
        }
    }

    /** Returns values by which two kernel matrices are compared. */
    private static SequencedMap<String, Double> summary(float[] k) {
        double squares = 0;
        double weighted = 0;
        for (int i = 0; i < k.length; i++) {
            squares += (double) k[i] * k[i];
            weighted += k[i] * (1 + SyntheticValues.at(i, 5));
        }
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        values.put("|K|", Math.sqrt(squares));
        values.put("weighted sum of K", weighted);
        values.put("last of the first row", (double) k[(int) Math.round(Math.sqrt(k.length)) - 1]);
        return values;
    }
}
