package org.gramian.spark.executor;

import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;

/**
 * Resources that Spark assigned to a task.
 *
 * @param cores {@code spark.task.cpus}: threads of an operator, and decoding threads
 */
public record TaskResources(int cores, Device device) {
    /** Returns the resources of a task; throws if the device does not exist. */
    static TaskResources of(TaskContext task, String device) {
        return new TaskResources(task.cpus(), device(task.resourcesJMap(), device));
    }

    /** Checks the name of a device; each executor checks whether it exists. */
    public static void requireDeviceName(String option, String name) {
        if (!name.matches("auto|cpu|cuda(:\\d+)?")) {
            throw new IllegalArgumentException(
                    option + ": expected cpu, cuda, cuda:<number> or auto, found '" + name + "'");
        }
    }

    /** Returns the named device; for {@code auto} the first GPU assigned to the task, since others may belong to other tasks. */
    static Device device(Map<String, ResourceInformation> assigned, String name) {
        if (!name.equals("auto")) {
            return Device.parse(name);
        }
        ResourceInformation gpus = assigned.get("gpu");
        return gpus == null ? Device.CPU : Device.parse("cuda:" + gpus.addresses()[0]);
    }

    /** Limits the operators that this thread calls to the task's cores: OpenMP has a number of threads per calling thread. */
    void apply() {
        Libtorch.load().setThreads(cores);
    }

    /** Returns whether the job fails with this attempt of a task. */
    static boolean isLastAttempt(TaskContext task) {
        SparkEnv environment = SparkEnv.get();
        boolean local = environment.executorId().equals("driver"); // --master local tries a task once
        return local || task.attemptNumber() + 1 >= environment.conf().getInt("spark.task.maxFailures", 4);
    }
}
