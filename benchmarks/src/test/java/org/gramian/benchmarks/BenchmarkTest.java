package org.gramian.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Everything at the smallest size. */
class BenchmarkTest {
    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return line.execute(Stream.concat(
                        Stream.of("--size", "tiny", "--threads", "1", "--repeat", "1", "--warmup", "0"),
                        Stream.of(arguments))
                .toArray(String[]::new));
    }

    @Test
    void everyWorkloadIsMeasuredWithoutPython() throws IOException {
        Path json = folder.resolve("result.json");
        Path markdown = folder.resolve("result.md");
        int code = execute("--python", "none", "--json", json.toString(), "--markdown", markdown.toString());
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("SPD head", "VGG-16 to conv5_3, forward ", "backward", "double loop", "not compared");
        JsonNode workloads =
                JsonMapper.shared().readTree(Files.readString(json)).get("workloads");
        assertThat(workloads.size()).isEqualTo(Workload.values().length);
        for (JsonNode workload : workloads) {
            assertThat(workload.get("sides").get(0).get("seconds").size()).isEqualTo(1);
        }
        assertThat(workloads.get(3).get("timesAsFast").asDouble()).isPositive();
        assertThat(workloads.get(4).get("perSecond").asDouble()).isPositive();
        assertThat(Files.readString(markdown))
                .contains("| kernel matrix of one picture", "| libtorch | ")
                .contains("| 5 JPEG files of 512×384 decoded, resized and cropped to 32×32 | Gramian |")
                .containsPattern("- pictures: \\d+ per second; at least 150 are asked for");
    }

    @Test
    void bothLanguagesAgreeWherePythonHasTorch() {
        assumeTrue(
                PythonTorch.find(System.getenv("GRAMIAN_PYTHON"), Path.of("")).isPresent(),
                "no Python with torch here");
        int code = execute("--only", "head,vgg-training");
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString()).contains("head: 9 numbers agree", "vgg-training: 9 numbers agree");
    }

    @ParameterizedTest
    @EnumSource
    void aWorkloadLeavesNoTensorBehind(Workload workload) {
        Libtorch.load().setThreads(1);
        run(workload); // what is made once and kept
        long before = Tensor.live();
        run(workload);
        assertThat(Tensor.live()).isEqualTo(before);
    }

    private static void run(Workload workload) {
        TaskSpec spec = workload.spec(Size.TINY, null).with(Map.of("device", "cpu", "threads", "1"));
        try (Scope _ = Scope.open();
                Task task = Workload.open(spec)) {
            assertThat(task.check().values()).allMatch(Double::isFinite).anyMatch(value -> value > 0);
            task.run();
        }
    }

    @Test
    void numbersThatDifferAreNotTimed() {
        TaskSpec spec = Workload.DEFINITION.spec(Size.TINY, null).with(Map.of("device", "cpu"));
        try (Scope _ = Scope.open();
                Task loop = new KernelLoopTask(spec);
                Task matrix = new KernelMatrixTask(spec);
                Task other = new KernelLoopTask(spec.with(Map.of("side", "5")))) {
            var expected = loop.check();
            assertThat(Agreement.of(matrix.check(), expected).holds()).isTrue();
            assertThat(Agreement.of(other.check(), expected).holds()).isFalse();
            expected.replaceAll((_, _) -> Double.NaN);
            assertThat(Agreement.of(matrix.check(), expected).holds()).isFalse();
        }
    }

    @Test
    void anUnknownWorkloadIsRefusedWithTheKnownOnes() {
        assertThat(execute("--only", "heads")).isEqualTo(2);
        assertThat(err.toString()).contains("heads", "vgg-forward");
    }

    @Test
    void aPythonWithoutTorchIsSaidSo() {
        assertThat(execute("--python", "no-such-python", "--only", "head"))
                .as(err.toString())
                .isZero();
        assertThat(err.toString()).contains("no Python with torch was found (tried no-such-python)");
    }
}
