package org.gramian.tensor;

import java.util.Locale;

/**
 * Where a tensor's memory lies: the processor or one CUDA device.
 *
 * @param kind processor or GPU
 * @param index number of the GPU, 0 on the processor
 */
public record Device(Kind kind, int index) {
    /** The kinds of device. */
    public enum Kind {
        CPU(0),
        CUDA(1);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** The device type's number in libtorch's C ABI. */
        int code() {
            return code;
        }
    }

    /** The processor. */
    public static final Device CPU = new Device(Kind.CPU, 0);

    public Device {
        if (index < 0 || (kind == Kind.CPU && index != 0)) {
            throw new IllegalArgumentException("no " + kind + " device has the index " + index);
        }
    }

    /** The GPU of the given number. */
    public static Device cuda(int index) {
        return new Device(Kind.CUDA, index);
    }

    /**
     * The device of a name: {@code cpu}, {@code cuda}, {@code cuda:1}, or {@code auto} for the first GPU where libtorch
     * sees one, the processor otherwise.
     *
     * @throws DeviceException if the name is none of these or the device is not there
     */
    public static Device parse(String text) {
        String name = text.strip().toLowerCase(Locale.ROOT);
        if (name.equals("auto")) {
            return Libtorch.load().cudaDevices() > 0 ? cuda(0) : CPU;
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

    @Override
    public String toString() {
        return kind == Kind.CPU ? "cpu" : "cuda:" + index;
    }
}
