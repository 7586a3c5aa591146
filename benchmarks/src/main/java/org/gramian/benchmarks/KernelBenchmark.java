package org.gramian.benchmarks;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.spd.Rbf;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Gaussian kernel matrix of one image: by matrix products, and by the double loop of its definition. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // set by JMH
public class KernelBenchmark {
    private static final Rbf KERNEL = new Rbf(new Rbf.Sigma.Mean(), 0);

    @Param("512")
    public int channels = 512;

    @Param("196")
    public int positions = 196;

    private float[] values;
    private Tensor maps;

    @Setup
    public void create() {
        maps = SyntheticValues.uniform(Shape.of(1, channels, positions), 1, 1, Device.CPU);
        values = maps.toFloats();
    }

    /** Returns the kernel matrix as {@link Rbf} computes it. */
    @Benchmark
    public float[] matrixForm() {
        try (Tape tape = Tape.inference()) {
            return KERNEL.apply(tape.constant(maps), Bindings.of(Map.of()))
                    .value()
                    .toFloats();
        }
    }

    /** Returns the kernel matrix by the paper's definition. */
    @Benchmark
    public float[] doubleLoop() {
        float[] k = new float[channels * channels];
        double sum = 0;
        for (int i = 0; i < channels; i++) {
            for (int j = 0; j < channels; j++) {
                float square = 0;
                for (int p = 0; p < positions; p++) {
                    float difference = values[i * positions + p] - values[j * positions + p];
                    square += difference * difference;
                }
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

    @TearDown
    public void close() {
        maps.close();
    }
}
