package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.gramian.spark.testing.StandaloneCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandaloneClusterTest {
    private static final StandaloneCluster.Sizes TWO = new StandaloneCluster.Sizes(2, 1, 512);

    @TempDir
    private Path marks;

    @Test
    void aJobRunsOnTwoExecutorsAndWhatAKilledOneWasDoingIsDoneAgain() throws Exception {
        try (StandaloneCluster cluster = StandaloneCluster.start("plain", TWO);
                JavaSparkContext context = new JavaSparkContext(cluster.conf("plain"))) {
            List<String> executors = context.parallelize(List.of(1, 2), 2)
                    .map(_ -> {
                        Thread.sleep(1000); // so that the other task is not given to the same executor
                        return SparkEnv.get().executorId();
                    })
                    .collect();
            assertThat(new HashSet<>(executors)).hasSize(2).doesNotContain("driver");

            String folder = marks.toString();
            List<Integer> numbers = IntStream.range(0, 8).boxed().toList();
            CompletableFuture<List<Integer>> squares =
                    CompletableFuture.supplyAsync(() -> context.parallelize(numbers, 8)
                            .map(number -> square(number, folder))
                            .collect());
            while (started() < 2) {
                Thread.sleep(20);
            }
            cluster.kill(0);

            assertThat(squares.get(60, TimeUnit.SECONDS)).containsExactly(0, 1, 4, 9, 16, 25, 36, 49);
            assertThat(started()).isGreaterThan(8);
        }
    }

    private static int square(int number, String folder) throws IOException, InterruptedException {
        Files.createFile(Path.of(folder, String.valueOf(TaskContext.get().taskAttemptId())));
        Thread.sleep(500);
        return number * number;
    }

    private long started() throws IOException {
        try (Stream<Path> files = Files.list(marks)) {
            return files.count();
        }
    }
}
