package org.gramian.benchmarks.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
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
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import tools.jackson.databind.json.JsonMapper;

/**
 * Process of one method: creates features and parameters, runs the pooling forward and backward, and prints its {@link
 * MemoryUsage}.
 *
 * <p>Computes the gradient of the features too, as fine-tuning does.
 */
final class MemoryWorker {
    /** Number of training images for poolings whose defaults depend on it, such as PCA. */
    private static final int IMAGES = 1000;

    private final Tensor features;
    private final Pooling pooling;
    private final ParameterSet parameters;
    private String largest = "";
    private long largestBytes;

    private MemoryWorker(Tensor features, Pooling pooling, ParameterSet parameters) {
        this.features = features;
        this.pooling = pooling;
        this.parameters = parameters;
    }

    /** Measures a method; the arguments are pooling, batch, channels, side, threads and device. */
    public static void main(String[] arguments) throws IOException {
        Pooling pooling = Pooling.parse(arguments[0]).resolve(Backbone.of("vgg16"), IMAGES);
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
            Tensor features = image.expand(batch, channels, side, side).copy().to(device);
            System.out.println(
                    new MemoryWorker(features, pooling, parameters).measure().line());
        }
    }

    private MemoryUsage measure() throws IOException {
        step(features.slice(0, 0, 1)); // loads libraries and allocates their buffers
        Meter meter = Meter.start(features.device());
        step(features);
        long peak = meter.peak();
        long own = 0;
        for (Parameter parameter : parameters.all()) {
            own += bytes(parameter.value());
        }
        long descriptor = pooling.descriptorSize(features.size(1));
        return new MemoryUsage(pooling.text(), descriptor, own, peak, largest, largestBytes);
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

    /**
     * Peak memory since the start.
     *
     * <p>On the CPU the peak resident memory of this process, which Linux lets it reset; on a GPU the memory reserved by the
     * allocator of libtorch, which it keeps until the process ends.
     */
    private static final class Meter {
        private static final Path STATUS = Path.of("/proc/self/status");
        private static final Path RESET = Path.of("/proc/self/clear_refs");

        private final Device device;
        private final long start;

        private Meter(Device device, long start) {
            this.device = device;
            this.start = start;
        }

        static Meter start(Device device) throws IOException {
            if (device.kind() == Device.Kind.CUDA) {
                return new Meter(device, inUse(device));
            }
            System.gc(); // garbage would count as memory in use at the start
            Files.writeString(RESET, "5");
            return new Meter(device, resident("VmRSS:"));
        }

        /** Returns the bytes on top of those at the start. */
        long peak() throws IOException {
            long now = device.kind() == Device.Kind.CUDA ? inUse(device) : resident("VmHWM:");
            return Math.max(0, now - start);
        }

        private static long inUse(Device device) {
            device.synchronize();
            return Libtorch.load()
                    .cudaMemoryInUse()
                    .orElseThrow(() -> new IllegalStateException("the CUDA runtime does not report its memory usage"));
        }

        private static long resident(String name) throws IOException {
            try (Stream<String> lines = Files.lines(STATUS)) {
                return lines.filter(line -> line.startsWith(name))
                                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                                .findFirst()
                                .orElseThrow(() -> new IOException(STATUS + " has no line " + name))
                        * 1024;
            }
        }
    }

    /**
     * Memory of the forward and backward pass of a method, in bytes.
     *
     * @param pooling with all defaults resolved
     * @param descriptor size of a descriptor
     * @param parameters of the pooling, without a classifier
     * @param peak on top of features and parameters
     * @param largest largest tensor between two stages, as {@code kernel rbf F32[32, 512, 512]}
     * @param largestBytes its size
     */
    record MemoryUsage(String pooling, long descriptor, long parameters, long peak, String largest, long largestBytes) {
        private static final JsonMapper JSON = JsonMapper.shared();

        /** Returns a line of JSON for {@link #parse}. */
        String line() {
            return JSON.writeValueAsString(this);
        }

        static MemoryUsage parse(String line) {
            return JSON.readValue(line, MemoryUsage.class);
        }

        /** Returns the cells of the table row after the method. */
        List<String> cells() {
            return List.of(
                    "`" + pooling + "`",
                    "" + descriptor,
                    mebibytes(parameters),
                    mebibytes(peak),
                    largest + ": " + mebibytes(largestBytes) + " MiB");
        }

        private static String mebibytes(long bytes) {
            return "" + Math.round(bytes / (double) (1 << 20));
        }
    }
}
