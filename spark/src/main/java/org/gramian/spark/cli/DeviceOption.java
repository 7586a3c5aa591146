package org.gramian.spark.cli;

import org.gramian.spark.executor.TaskResources;
import picocli.CommandLine.Option;

/** Option for the device of the executors. */
final class DeviceOption {
    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description = "cpu, cuda, cuda:<number>, or auto: the GPU that Spark assigned to the task, or the CPU"
                    + " without one (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String device;

    /** @throws IllegalArgumentException if it is no device's name; whether there is such a device, each executor finds out */
    String name() {
        TaskResources.requireDeviceName("--device", device);
        return device;
    }
}
