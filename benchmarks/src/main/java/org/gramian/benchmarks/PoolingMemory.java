package org.gramian.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;

/**
 * Peak memory of the forward and backward pass of a pooling, including the gradient of the features, on top of features and
 * parameters. Without arguments, prints the names of all methods; {@code benchmarks/memory} starts a process for each.
 */
final class PoolingMemory {
    /** Number of training images for poolings whose defaults depend on it, such as PCA. */
    private static final int IMAGES = 1000;

    private final Pooling pooling;
    private final ParameterSet parameters;
    private String largest = "";
    private long largestBytes;

    private PoolingMemory(Pooling pooling, ParameterSet parameters) {
        this.pooling = pooling;
        this.parameters = parameters;
    }

    /** Prints a row of a Markdown table; the arguments are a method or pooling, batch, channels, side, threads and device. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) {
            Methods.names().forEach(System.out::println);
            return;
        }
        String cells;
        boolean failed = false;
        try {
            cells = measure(arguments);
        } catch (IllegalArgumentException unfit) {
            failed = true;
            cells = "– | – | – | – | not measured: " + unfit.getMessage();
        }
        System.out.println("| `" + arguments[0] + "` | " + cells + " |");
        System.exit(failed ? 1 : 0);
    }

    private static String measure(String... arguments) throws IOException {
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
            return new PoolingMemory(pooling, parameters).measure(features);
        }
    }

    private String measure(Tensor features) throws IOException {
        boolean cuda = features.device().kind() == Device.Kind.CUDA;
        step(features.slice(0, 0, 1)); // loads libraries and allocates their buffers
        if (!cuda) {
            System.gc(); // garbage would count as memory in use at the start
            Files.writeString(Path.of("/proc/self/clear_refs"), "5"); // resets the peak
        }
        long start = cuda ? gpuMemory(features.device()) : resident("VmRSS:");
        step(features);
        long peak = (cuda ? gpuMemory(features.device()) : resident("VmHWM:")) - start;
        long own = parameters.all().stream()
                .map(Parameter::value)
                .mapToLong(PoolingMemory::bytes)
                .sum();
        return String.format(
                Locale.ROOT,
                "`%s` | %d | %.0f | %.0f | %s: %.0f MiB",
                pooling.text(),
                pooling.descriptorSize(features.size(1)),
                own / 0x1p20,
                Math.max(0, peak) / 0x1p20,
                largest,
                largestBytes / 0x1p20);
    }

    private void step(Tensor batch) {
        largestBytes = 0;
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var x = tape.variable(batch);
            Var descriptors = pooling.trace(x, Bindings.of(parameters.variables(tape)), (stage, value) -> {
                if (bytes(value.value()) > largestBytes) {
                    largestBytes = bytes(value.value());
                    largest = stage + " " + value.shape();
                }
            });
            Tensor upstream = Tensors.full(1, descriptors.shape(), DType.F32, batch.device());
            try (Gradients gradients = tape.backward(descriptors, upstream)) {
                gradients.of(x);
            }
        }
    }

    private static long bytes(Tensor tensor) {
        return tensor.shape().elements() * tensor.type().bytes();
    }

    /** Returns the memory reserved by the allocator of libtorch, which it keeps until the process ends. */
    private static long gpuMemory(Device device) {
        device.synchronize();
        return Libtorch.load()
                .cudaMemoryInUse()
                .orElseThrow(() -> new IllegalStateException("the CUDA runtime does not report its memory usage"));
    }

    private static long resident(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElseThrow(() -> new IOException("/proc/self/status has no line " + name));
    }
}
