package org.gramian.spark.executor;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;

/**
 * What a task was given to compute with.
 *
 * @param cores {@code spark.task.cpus}: threads of one operator, and threads that decode
 * @param device where the model computes
 */
public record TaskResources(int cores, Device device) {
    /** The name of GPUs in Spark's scheduling of resources. */
    private static final String GPU = "gpu";

    /** The choice of device that leaves it to Spark. */
    private static final String AUTO = "auto";

    /**
     * What a task was given.
     *
     * @param wish {@code cpu}, {@code cuda:1}, or {@code auto}: the first GPU that Spark gave the task, the processor where it
     *     gave none. A GPU that libtorch merely sees may be another task's
     * @throws IllegalArgumentException if the device is not there
     */
    public static TaskResources of(TaskContext task, String wish) {
        return new TaskResources(task.cpus(), device(task.resourcesJMap(), wish));
    }

    /**
     * Looks at a choice of device; whether there is such a device, each executor finds out.
     *
     * @param option what the choice is called, for the message
     * @throws IllegalArgumentException if it is no device's name
     */
    public static void requireDeviceName(String option, String name) {
        if (!name.matches("auto|cpu|cuda(:\\d+)?")) {
            throw new IllegalArgumentException(
                    option + ": expected cpu, cuda, cuda:<number> or auto, found '" + name + "'");
        }
    }

    static Device device(Map<String, ResourceInformation> given, String wish) {
        if (!wish.equals(AUTO)) {
            return Device.parse(wish);
        }
        ResourceInformation gpus = given.get(GPU);
        return gpus == null ? Device.CPU : Device.parse("cuda:" + gpus.addresses()[0]);
    }

    /** Lets operators that this thread calls use the task's cores and no more: OpenMP asks each thread for its own number. */
    public void apply() {
        Libtorch.load().setThreads(cores);
    }
}
