package org.gramian.spark.executor;

import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/** Which attempts Spark makes at a task that fails. */
final class Attempts {
    private Attempts() {}

    /** Whether the whole job fails with this attempt. */
    static boolean isLast(TaskContext task) {
        SparkEnv environment = SparkEnv.get();
        boolean alone = environment.executorId().equals("driver"); // --master local: there a task is tried once
        return alone || isLast(task.attemptNumber(), environment.conf().getInt("spark.task.maxFailures", 4));
    }

    /** Whether attempt {@code number}, counted from 0 on, is the last of so many. */
    static boolean isLast(int number, int most) {
        return number + 1 >= most;
    }
}
