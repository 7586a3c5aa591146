package org.gramian.spark.train;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.gramian.spark.testing.StandaloneCluster;

/**
 * Kills a worker while its executor has a task. Tasks take milliseconds, so the executor is stopped (SIGSTOP) first, and the worker is
 * killed once it gets a task.
 */
final class LostStep {
    private final StandaloneCluster cluster;
    private final SparkContext program;
    private final AtomicInteger lost = new AtomicInteger();
    private CompletableFuture<Void> killed = CompletableFuture.completedFuture(null);

    /** Executor with its process id. */
    record Executor(String name, long process) {}

    LostStep(StandaloneCluster cluster, SparkContext program) {
        this.cluster = cluster;
        this.program = program;
    }

    /** Stops an executor, whose worker is killed as soon as it gets a task. */
    void killInNextTask() {
        Executor executor = anExecutor(program);
        CountDownLatch assigned = new CountDownLatch(1);
        program.addSparkListener(new SparkListener() {
            @Override
            public void onTaskStart(SparkListenerTaskStart start) {
                if (start.taskInfo().executorId().equals(executor.name)) {
                    assigned.countDown();
                }
            }

            @Override
            public void onTaskEnd(SparkListenerTaskEnd end) {
                if (end.reason() instanceof ExecutorLostFailure) {
                    lost.incrementAndGet();
                }
            }
        });
        stop(executor.process);
        killed = CompletableFuture.runAsync(() -> {
            try {
                assigned.await();
                cluster.killWorkerOf(executor.process);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        });
    }

    /** Returns the number of lost tasks, after the worker was killed. */
    int tasks() throws Exception {
        killed.get(60, TimeUnit.SECONDS);
        return lost.get();
    }

    /** Returns an idle executor. */
    static Executor anExecutor(SparkContext program) {
        String[] found = JavaSparkContext.fromSparkContext(program)
                .parallelize(List.of(1), 1)
                .map(_ -> SparkEnv.get().executorId() + " "
                        + ProcessHandle.current().pid())
                .first()
                .split(" ", 2);
        return new Executor(found[0], Long.parseLong(found[1]));
    }

    private static void stop(long process) {
        try {
            int code = new ProcessBuilder("kill", "-STOP", String.valueOf(process))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill -STOP ended with " + code);
            }
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
