package org.gramian.model;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.basis.CountSketch;
import org.gramian.linear.ClassDistances;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Distances of descriptors from the classes of a model, {@link ClassDistances} of their short forms: a descriptor is normalized to unit
 * length and shortened by a {@link CountSketch}. {@link OpenSet} decides by them whether an image belongs to no class.
 *
 * <p>Parameters for descriptors of length d, k classes and m = min(d, {@value CountSketch#LENGTH}): {@code centre [m]}, {@code matrix [m,
 * m]} and {@code means [k, m]}.
 */
@SuppressWarnings("exports") // fitted by training
public final class KnownClasses implements AutoCloseable {
    /** Prefix of the parameters. */
    static final String PREFIX = "known";

    private final CountSketch sketch;
    private final ParameterSet parameters;

    KnownClasses(long descriptorSize, ParameterSet parameters) {
        this.sketch = CountSketch.of(descriptorSize);
        this.parameters = parameters;
    }

    /** Returns the distances of fitted classes, whose tensors are copied. */
    public static KnownClasses of(long descriptorSize, ClassDistances fitted) {
        List<ParameterSpec> specs =
                parameters(descriptorSize, Math.toIntExact(fitted.means().size(0)));
        ParameterSet parameters = ParameterSet.initialize(specs, new SplittableRandom(0), DType.F32, Device.CPU);
        parameters.assign(Map.of("centre", fitted.centre(), "matrix", fitted.matrix(), "means", fitted.means()));
        return new KnownClasses(descriptorSize, parameters);
    }

    static List<ParameterSpec> parameters(long descriptorSize, int classes) {
        long m = Math.min(descriptorSize, CountSketch.LENGTH);
        return List.of(
                spec("centre", Shape.of(m)), spec("matrix", Shape.of(m, m)), spec("means", Shape.of(classes, m)));
    }

    private static ParameterSpec spec(String name, Shape shape) {
        return new ParameterSpec(name, shape, Role.FITTED, Initializer.constant(0));
    }

    ParameterSet parameters() {
        return parameters;
    }

    /** Returns short descriptors {@code [n, m]}, float32 on the CPU. */
    public static Tensor shortened(CountSketch sketch, float[][] descriptors) {
        double[] all = Arrays.stream(descriptors)
                .map(sketch::normalized)
                .flatMapToDouble(Arrays::stream)
                .toArray();
        return Tensors.of(all, Shape.of(descriptors.length, all.length / descriptors.length), DType.F32);
    }

    /** Computes distances {@code [n][k]} of descriptors {@code [n][d]} from all classes. */
    public float[][] distances(float[][] descriptors) {
        try (Scope _ = Scope.open()) {
            ClassDistances classes = new ClassDistances(value("centre"), value("matrix"), value("means"));
            return Engine.toRows(classes.of(shortened(sketch, descriptors)));
        }
    }

    private Tensor value(String name) {
        return parameters.get(name).value();
    }

    @Override
    public void close() {
        parameters.close();
    }
}
