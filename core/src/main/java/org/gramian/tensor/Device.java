package org.gramian.tensor;

import java.util.Locale;
import org.gramian.tensor.library.Libtorch;

/**
 * Device of a tensor: the CPU or a CUDA GPU.
 *
 * @param kind CPU or GPU
 * @param index index of the GPU, 0 for the CPU
 * @since 0.1
 */
public record Device(Kind kind, int index) {
    /** Kind of device. */
    public enum Kind {
        CPU(0),
        CUDA(1);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** Returns the code of the device type in libtorch's C ABI. */
        int code() {
            return code;
        }
    }

    /** The CPU. */
    public static final Device CPU = new Device(Kind.CPU, 0);

    public Device {
        if (index < 0 || (kind == Kind.CPU && index != 0)) {
            throw new IllegalArgumentException("no " + kind + " device has the index " + index);
        }
    }

    /** Returns the GPU with an index. */
    public static Device cuda(int index) {
        return new Device(Kind.CUDA, index);
    }

    /**
     * Parses {@code cpu}, {@code cuda}, {@code cuda:1}, or {@code auto}: the first GPU if libtorch finds one, else the
     * CPU.
     *
     * @throws DeviceException if the name is invalid or the device does not exist
     */
    public static Device parse(String text) {
        String name = text.strip().toLowerCase(Locale.ROOT);
        if (name.equals("auto")) {
            return Libtorch.mayUseGpu() && Libtorch.load().cudaDevices() > 0 ? cuda(0) : CPU;
        }
        if (name.equals("cpu")) {
            return CPU;
        }
        if (name.matches("cuda(:\\d{1,3})?")) {
            int index = name.equals("cuda") ? 0 : Integer.parseInt(name.substring(5));
            int present = Libtorch.load().cudaDevices();
            if (index >= present) {
                throw new DeviceException("device '" + text + "' is not available: libtorch at "
                        + Libtorch.load().folder().folder() + " finds " + present
                        + " CUDA devices; use --device cpu, or point GRAMIAN_LIBTORCH at a PyTorch built for CUDA");
            }
            return cuda(index);
        }
        throw new DeviceException("expected device cpu, cuda, cuda:<number> or auto, found '" + text + "'");
    }

    /** Waits until a GPU has finished all submitted work; returns at once for the CPU. */
    public void synchronize() {
        if (kind == Kind.CUDA) {
            Libtorch.load().synchronize();
        }
    }

    @Override
    public String toString() {
        return kind == Kind.CPU ? "cpu" : "cuda:" + index;
    }

    /** Thrown for a device that does not exist. */
    public static final class DeviceException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        DeviceException(String message) {
            super(message);
        }
    }
}
