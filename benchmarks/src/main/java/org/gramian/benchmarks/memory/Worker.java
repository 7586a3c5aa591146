package org.gramian.benchmarks.memory;

import java.io.IOException;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The process of one method: makes features and parameters, runs the pooling forward and backward, and says by one line
 * ({@link Usage}) what that took.
 *
 * <p>The gradient of the features is computed too, as fine-tuning needs it.
 */
final class Worker {
    /** What fits to a method that asks how many images there are, as PCA does. */
    private static final int PICTURES = 1000;

    private final Tensor features;
    private final Pooling pooling;
    private final ParameterSet parameters;
    private String largest = "";
    private long largestBytes;

    private Worker(Tensor features, Pooling pooling, ParameterSet parameters) {
        this.features = features;
        this.pooling = pooling;
        this.parameters = parameters;
    }

    /** Arguments: the pooling, then batch, channels, side, threads and device. */
    public static void main(String[] arguments) throws IOException {
        Pooling pooling = Pooling.parse(arguments[0]).settled(Backbone.of("vgg16"), PICTURES);
        int batch = Integer.parseInt(arguments[1]);
        int channels = Integer.parseInt(arguments[2]);
        int side = Integer.parseInt(arguments[3]);
        Libtorch.load().setThreads(Integer.parseInt(arguments[4]));
        Device device = Device.parse(arguments[5]);
        SplittableRandom random = new SplittableRandom(1);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(channels, random, DType.F32, device)) {
            Fitting.pretend(parameters, random);
            Tensor image = Tensors.uniform(random, 0, 2, Shape.of(1, channels, side, side), DType.F32);
            Tensor features = Tensors.to(Tensors.copy(Views.expand(image, batch, channels, side, side)), device);
            System.out.println(
                    new Worker(features, pooling, parameters).measure().line());
        }
    }

    private Usage measure() throws IOException {
        step(Views.slice(features, 0, 0, 1)); // libraries are loaded, their buffers made
        Meter meter = Meter.start(features.device());
        step(features);
        long peak = meter.peak();
        long own = 0;
        for (Parameter parameter : parameters.all()) {
            own += bytes(parameter.value());
        }
        long descriptor = pooling.descriptorSize(features.size(1));
        return new Usage(pooling.text(), descriptor, own, peak, largest, largestBytes);
    }

    private void step(Tensor batch) {
        largestBytes = 0;
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var x = tape.variable(batch);
            Var descriptors = pooling.trace(x, Bindings.of(parameters.variables(tape)), this::leaves);
            Tensor upstream = Tensors.full(1, descriptors.shape(), DType.F32, batch.device());
            try (Gradients gradients = tape.backward(descriptors, upstream)) {
                gradients.of(x);
            }
        }
    }

    private void leaves(String stage, Var value) {
        if (bytes(value.value()) > largestBytes) {
            largestBytes = bytes(value.value());
            largest = stage + " " + value.shape();
        }
    }

    private static long bytes(Tensor tensor) {
        return tensor.shape().elements() * tensor.type().bytes();
    }
}
