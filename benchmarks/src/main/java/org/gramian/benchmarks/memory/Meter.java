package org.gramian.benchmarks.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;

/**
 * Reads how much memory more than at its start was in use at the peak.
 *
 * <p>Of the processor it is the resident memory of this process, whose highest mark Linux lets a process reset; of a GPU
 * what libtorch's allocator has taken from it, which it does not give back before the process ends.
 */
final class Meter {
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
        System.gc(); // garbage of the preparations would count as memory that is there already
        Files.writeString(RESET, "5");
        return new Meter(device, resident("VmRSS:"));
    }

    /** Bytes beyond those of the start. */
    long peak() throws IOException {
        long now = device.kind() == Device.Kind.CUDA ? inUse(device) : resident("VmHWM:");
        return Math.max(0, now - start);
    }

    private static long inUse(Device device) {
        Libtorch.load().synchronize(device);
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
