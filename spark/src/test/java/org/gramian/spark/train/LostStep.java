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
 * A worker that is killed while its executor has a task. Tasks take milliseconds, so the executor is stopped first: what is given to it
 * then is never done, and the worker is killed once something was.
 */
final class LostStep {
    private final StandaloneCluster cluster;
    private final SparkContext program;
    private final AtomicInteger lost = new AtomicInteger();
    private CompletableFuture<Void> killed = CompletableFuture.completedFuture(null);

    /** An executor: its name, and the number of its process. */
    record Executor(String name, long process) {}

    LostStep(StandaloneCluster cluster, SparkContext program) {
        this.cluster = cluster;
        this.program = program;
    }

    /** Stops an executor, which is killed by another thread as soon as it is given something to do. */
    void killInTheNext() {
        Executor executor = anExecutor(program);
        CountDownLatch given = new CountDownLatch(1);
        program.addSparkListener(new SparkListener() {
            @Override
            public void onTaskStart(SparkListenerTaskStart start) {
                if (start.taskInfo().executorId().equals(executor.name)) {
                    given.countDown();
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
                given.await();
                cluster.killWorkerOf(executor.process);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        });
    }

    /** How many tasks were lost, once the worker was killed. */
    int tasks() throws Exception {
        killed.get(60, TimeUnit.SECONDS);
        return lost.get();
    }

    /** One that has nothing to do. */
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
