package org.gramian.benchmarks;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
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

/** Time of poolings on feature maps, by {@code benchmarks/layers}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // set by JMH
public class LayerBenchmark {
    /** Pooling, or the name of a method. */
    @Param({"paper", "default", "bcnn", "isqrt", "mpn-cov", "cbp-ts", "average"})
    public String pooling;

    @Param("cpu")
    public String device;

    @Param("32")
    public int batch;

    @Param("512")
    public int channels;

    @Param("14")
    public int side;

    private Layer layer;
    private ParameterSet parameters;
    private Tensor features;
    private Tensor upstream;

    @Setup
    public void create() {
        SplittableRandom random = new SplittableRandom(1);
        Device on = Device.parse(device);
        Pooling parsed = Pooling.parse(pooling);
        layer = Acceleration.rewrite(parsed);
        parameters = parsed.initialize(channels, random, DType.F32, on);
        Fitting.pretend(parameters, random);
        features = Tensors.uniform(random, 0, 2, Shape.of(batch, channels, side, side), DType.F32)
                .to(on);
        upstream = Tensors.full(1, Shape.of(batch, parsed.descriptorSize(channels)), DType.F32, on);
    }

    /** Descriptors. */
    @Benchmark
    public void forward() {
        try (Tape tape = Tape.inference()) {
            layer.apply(tape.constant(features), Bindings.of(parameters.variables(tape)));
        }
        features.device().synchronize();
    }

    /** Descriptors and gradients of features and parameters. */
    @Benchmark
    public void forwardAndBackward() {
        try (Tape tape = Tape.recording()) {
            Var descriptors = layer.apply(tape.variable(features), Bindings.of(parameters.variables(tape)));
            try (Gradients _ = tape.backward(descriptors, upstream)) {
                features.device().synchronize();
            }
        }
    }

    @TearDown
    public void close() {
        parameters.close();
        features.close();
        upstream.close();
    }
}
