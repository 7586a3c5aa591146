package org.gramian.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Libtorch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CompareTest {
    private static final String PYTHON = System.getenv().getOrDefault("GRAMIAN_PYTHON", "python3");
    private static final String HEAD = "conv:12/rbf/spd:12/relu/triu/root/l2";

    @TempDir
    Path folder;

    private String output = "";

    /** Runs a command and returns its exit code. */
    private int run(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException absent) {
            return 127;
        }
        output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor();
    }

    private int compare(String arguments) throws IOException, InterruptedException {
        assumeTrue(run(List.of(PYTHON, "--version")) == 0, "no Python");
        List<String> command = new ArrayList<>(List.of(PYTHON, "compare.py"));
        command.addAll(List.of(
                "--java",
                Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of("--class-path", System.getProperty("java.class.path")));
        String small =
                "--batch 3 --threads 1 --channels 12 --side 4 --pixels 64 --classes 5 --repeat 1 --warmup 0 --json ";
        command.addAll(List.of((small + folder.resolve("results.json") + " " + arguments).split(" ")));
        return run(command);
    }

    private JsonNode results(String arguments) throws IOException, InterruptedException {
        assertThat(compare(arguments)).as(() -> output).isZero();
        return JsonMapper.shared().readTree(Files.readString(folder.resolve("results.json")));
    }

    private void requireTorch() throws IOException, InterruptedException {
        assumeTrue(run(List.of(PYTHON, "-c", "import torch")) == 0, "no Python with torch");
    }

    @Test
    void gramianAndPyTorchAgreeOnHead() throws IOException, InterruptedException {
        requireTorch();
        JsonNode results = results("--only head --trajectory 10 --pooling " + HEAD);
        assertThat(results.size()).isEqualTo(4);
        results.forEach(result -> assertThat(result.get("median").asDouble()).isPositive());
        assertThat(results.get(3).get("remark").asString()).contains("13 values agree", "10 steps");
    }

    @ParameterizedTest
    @CsvSource({
        "squeezenet, average/l2",
        "vgg16, conv:64/rbf/spd:32/relu/triu/root/l2",
        "resnet50, average/l2",
        "efficientnet-lite4, average/l2",
        "vit-s16, average/l2",
        "squeezenet, conv:64/rbf/spd:32/relu/triu/root/l2"
    })
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true")
    void gramianAndPyTorchAgreeOnNetworks(String backbone, String pooling) throws IOException, InterruptedException {
        requireTorch();
        JsonNode results = results("--only network,backbone --backbone " + backbone + " --pooling " + pooling);
        assertThat(results.size()).isEqualTo(8);
        results.forEach(result -> assertThat(result.get("median").asDouble()).isPositive());
    }

    @Test
    void reportsUnavailableSide() throws IOException, InterruptedException {
        JsonNode results = results("--only head-forward --python no-such-python --pooling " + HEAD);
        assertThat(results.get(0).get("seconds").size()).isEqualTo(1);
        assertThat(results.get(1).get("seconds").size()).isZero();
        assertThat(results.get(1).get("remark").asString()).contains("no-such-python");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--sides python-graphs",
                "--sides java",
                "--precision tf32",
                "--only head --precision bf16",
                "--only images",
                "--repeat 0"
            })
    void rejectsWrongArguments(String arguments) throws IOException, InterruptedException {
        assertThat(compare(arguments)).as(() -> output).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "head-forward",
                "head-training",
                "network-forward",
                "network-training",
                "backbone-forward",
                "backbone-training"
            })
    void workloadLeaksNoTensor(String workload) {
        Libtorch.load().setThreads(1);
        Task task = new Task(workload, 3, "f32", "cpu", 1, HEAD, "squeezenet", 12, 4, 48, 5);
        check(task); // what is created once and kept
        long before = Tensor.live();
        check(task);
        assertThat(Tensor.live()).isEqualTo(before);
    }

    private static void check(Task task) {
        try (Scope _ = Scope.open();
                Work work = Work.of(task)) {
            assertThat(work.check().values()).allMatch(Double::isFinite).anyMatch(value -> value > 0);
            work.run();
        }
    }

    @Test
    void trainingOfResidualNetworkStaysFinite() {
        Libtorch.load().setThreads(1);
        Task task = new Task("network-training", 3, "f32", "cpu", 1, "average/l2", "resnet18", 512, 14, 32, 5);
        try (Scope _ = Scope.open();
                Work work = Work.of(task)) {
            assertThat(work.losses(10)).allMatch(loss -> loss < 10); // NaN is not less
        }
    }
}
