package org.gramian.train;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;

/**
 * Trains or predicts in a process of its own and measures that process's memory.
 *
 * <p>Its Java heap is of a fixed size and touched at the start: what grows afterwards is native memory, which in the
 * process of the tests would drown in tens of megabytes of heap that come and go.
 */
final class TrainingProcess {
    static final Path STATUS = Path.of("/proc/self/status");
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    static final int WARM_UP = FULL ? 300 : 100;
    static final int STEPS = FULL ? 1000 : 300;

    /**
     * What the process found.
     *
     * @param live tensors after the warm-up
     * @param leastLive fewest after any later step
     * @param mostLive most after any later step
     * @param growthKilobytes of resident memory from the warm-up to the end
     */
    record Measurement(long live, long leastLive, long mostLive, long growthKilobytes) {}

    /** What is done over and over. */
    enum Work {
        TRAINING,
        PREDICTION,
        /** Prediction that keeps 256 kB per step, to see that the measurement would tell. */
        LEAK
    }

    private TrainingProcess() {}

    static Measurement measure(Work work) throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms64m",
                "-Xmx64m",
                "-XX:+AlwaysPreTouch",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dgramian.full=" + FULL,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                TrainingProcess.class.getName(),
                work.name());
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException("the process ended with " + process.exitValue() + " and wrote: " + output);
        }
        long[] numbers = List.of(output.split(" ", -1)).stream()
                .mapToLong(Long::parseLong)
                .toArray();
        return new Measurement(numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    public static void main(String[] args) throws IOException {
        Libtorch.load().setThreads(1);
        try (TextureBatch batch = TextureBatch.of(8, 1);
                HeadTraining head =
                        new HeadTraining(HeadTraining.PAPER, TextureBatch.CHANNELS, TextureBatch.CLASSES, 2)) {
            Measurement found = switch (Work.valueOf(args[0])) {
                case TRAINING -> measure(() -> head.step(batch.features(), batch.targets()));
                case PREDICTION -> measure(() -> head.predict(batch.features()));
                case LEAK ->
                    measure(() -> {
                        head.predict(batch.features());
                        Tensors.full(1, Shape.of(64, 1024), DType.F32, Device.CPU);
                    });
            };
            System.out.println(
                    found.live() + " " + found.leastLive() + " " + found.mostLive() + " " + found.growthKilobytes());
        }
    }

    private static Measurement measure(Runnable step) throws IOException {
        for (int i = 0; i < WARM_UP; i++) {
            step.run();
        }
        long live = Tensor.live();
        long least = live;
        long most = live;
        long before = residentKilobytes();
        for (int i = WARM_UP; i < STEPS; i++) {
            step.run();
            least = Math.min(least, Tensor.live());
            most = Math.max(most, Tensor.live());
        }
        return new Measurement(live, least, most, residentKilobytes() - before);
    }

    private static long residentKilobytes() throws IOException {
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
