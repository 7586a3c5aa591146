package org.gramian.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.abort;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.data.Percentage;
import org.gramian.benchmarks.WorkloadResult.SideDifference;
import org.gramian.benchmarks.WorkloadResult.SideResult;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Libtorch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Everything at small sizes. */
class BenchmarkTest {
    private final Tiny listener = new Tiny();

    @Test
    void gramianIsMeasuredWithoutPython() {
        BenchReport report = Bench.run(
                Tiny.plan(BenchWorkload.HEAD_TRAINING, BenchWorkload.DEFINITION),
                null,
                List.of(PythonTorch.Mode.EAGER),
                listener);
        assertThat(report.failed()).isFalse();
        assertThat(listener.reports).hasSize(2);
        JsonNode tree = JsonMapper.shared().valueToTree(report.tree());
        assertThat(tree.get("facts").get("CPU").asString()).isNotEmpty();
        double ceiling = tree.get("ceilings").get("f32").asDouble();
        assertThat(ceiling).isPositive();
        JsonNode head = tree.get("measurements").get(0);
        assertThat(head.get("settings").get("batch").asString()).isEqualTo("3");
        assertThat(head.get("sides").size()).isEqualTo(1);
        JsonNode side = head.get("sides").get(0);
        assertThat(side.get("seconds").size()).isEqualTo(1);
        assertThat(side.get("ofCeiling").asDouble() * ceiling)
                .isCloseTo(side.get("teraflops").asDouble(), Percentage.withPercentage(1));
        assertThat(side.has("timesAsFast")).isFalse();
        JsonNode definition = tree.get("measurements").get(1).get("sides");
        assertThat(definition.get(1).get("side").asString()).isEqualTo("double loop");
        assertThat(definition.get(0).get("timesAsFast").asDouble()).isPositive();
        assertThat(report.columns()).containsPattern("head, .*\\b3, f32");
        assertThat(report.markdown()).containsPattern("(?m)^\\| [^|]+ \\| [^|]+ \\|");
    }

    /** Looked for once: Python takes seconds to find out whether it has torch. */
    private static Optional<PythonTorch> found = Optional.empty();

    @BeforeAll
    static void lookForPython() {
        try {
            found = Optional.of(PythonTorch.find(System.getenv("GRAMIAN_PYTHON")));
        } catch (IllegalArgumentException none) {
            found = Optional.empty();
        }
    }

    private static PythonTorch python() {
        return found.orElseGet(() -> abort("no Python with torch here"));
    }

    @Test
    void predictionFromFilesIsComparedWithMemory() {
        BenchReport report = Bench.run(Tiny.plan(BenchWorkload.PREDICTION), null, List.of(), listener);
        WorkloadResult comparison = report.comparisons().getFirst();
        assertThat(comparison.outcomes()).extracting(SideResult::label).containsExactly("from files", "from memory");
        assertThat(comparison.outcomes()).allMatch(SideResult.Measured.class::isInstance); // so the scores agree
        assertThat(comparison.disagrees()).isFalse();
    }

    @Test
    void gramianAndPyTorchAgree() {
        PythonTorch torch = python();
        BenchPlan plan = new BenchPlan(
                List.of(BenchWorkload.HEAD_TRAINING, BenchWorkload.HEAD_FORWARD),
                Tiny.grid(Precision.F32),
                Tiny.SIZES,
                new BenchPlan.Runs(0, 1, 10));
        BenchReport report = Bench.run(plan, torch, List.of(PythonTorch.Mode.EAGER), listener);
        assertThat(report.failed()).as(report.columns()).isFalse();
        assertThat(report.agreements())
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).containsPattern("python: 13\\b"))
                .anySatisfy(line -> assertThat(line).containsPattern("python: 2\\b"))
                .anySatisfy(line -> assertThat(line).containsPattern("\\b10 steps\\b.*1e-03"));
        assertThat(report.comparisons().getFirst().outcomes().getFirst())
                .isInstanceOfSatisfying(
                        SideResult.Measured.class,
                        measured -> assertThat(report.comparisons().getFirst().timesAsFast(measured.timing()))
                                .isPresent());
    }

    @Test
    void gramianAndPyTorchAgreeOnASmallNetwork() {
        assertAgreement("average/l2", "squeezenet", BenchWorkload.NETWORK_TRAINING);
    }

    @ParameterizedTest
    @CsvSource({
        "vgg16, conv:64/rbf/spd:32/relu/triu/root/l2",
        "resnet50, average/l2",
        "efficientnet-lite4, average/l2",
        "vit-s16, average/l2",
        "squeezenet, conv:64/rbf/spd:32/relu/triu/root/l2"
    })
    @EnabledIfSystemProperty(
            named = "gramian.full",
            matches = "true",
            disabledReason = "large networks in two languages take a while")
    void gramianAndPyTorchAgreeOnANetwork(String backbone, String pooling) {
        assertAgreement(
                pooling,
                backbone,
                BenchWorkload.NETWORK_TRAINING,
                BenchWorkload.NETWORK_FORWARD,
                BenchWorkload.BACKBONE_TRAINING,
                BenchWorkload.BACKBONE_FORWARD);
    }

    private void assertAgreement(String pooling, String backbone, BenchWorkload... workloads) {
        PythonTorch torch = python();
        BenchPlan.Sizes sizes = new BenchPlan.Sizes(pooling, backbone, 512, 14, 64, 5);
        BenchPlan plan = new BenchPlan(List.of(workloads), Tiny.grid(Precision.F32), sizes, Tiny.ONCE);
        BenchReport report = Bench.run(plan, torch, List.of(PythonTorch.Mode.EAGER), listener);
        assertThat(report.failed()).as(report.columns()).isFalse();
        assertThat(report.agreements()).as(report.columns()).hasSize(workloads.length);
    }

    @Test
    void trainingOfResidualNetworkStaysFinite() {
        Libtorch.load().setThreads(1);
        BenchPlan.Sizes sizes = new BenchPlan.Sizes("average/l2", "resnet18", 512, 14, 32, 5);
        BenchPlan plan =
                new BenchPlan(List.of(BenchWorkload.NETWORK_TRAINING), Tiny.grid(Precision.F32), sizes, Tiny.ONCE);
        try (Scope _ = Scope.open();
                Task task = BenchWorkload.open(plan.cases().getFirst().spec())) {
            assertThat(task.trajectory(10)).allMatch(loss -> loss < 10); // NaN is not less
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "gramian.full", matches = "true", disabledReason = "starts Python once more")
    void unavailableSideIsReported() {
        PythonTorch torch = python();
        BenchPlan.Sizes sizes = new BenchPlan.Sizes("bilinear/triu/root/l2", "filters", 12, 4, 32, 5);
        BenchPlan plan = new BenchPlan(
                List.of(BenchWorkload.HEAD_FORWARD, BenchWorkload.BACKBONE_FORWARD),
                Tiny.grid(Precision.F32),
                sizes,
                Tiny.ONCE);
        BenchReport report = Bench.run(plan, torch, List.of(PythonTorch.Mode.EAGER), listener);
        assertThat(report.failed()).isFalse();
        assertThat(report.columns())
                .contains("worker.py", "conv:N, rbf", "'bilinear'")
                .contains("resnet50", "vit-s16", "not filters");
    }

    @ParameterizedTest
    @EnumSource
    void workloadLeaksNoTensor(BenchWorkload workload) {
        Libtorch.load().setThreads(1);
        run(workload); // what is made once and kept
        long before = Tensor.live();
        run(workload);
        assertThat(Tensor.live()).isEqualTo(before);
    }

    private static void run(BenchWorkload workload) {
        try (Scope _ = Scope.open();
                Task task = BenchWorkload.open(Tiny.spec(workload))) {
            assertThat(task.check().values()).allMatch(Double::isFinite).anyMatch(value -> value > 0);
            task.run();
        }
    }

    @Test
    void differingSidesAreNotTimed() {
        TaskSpec spec = Tiny.spec(BenchWorkload.DEFINITION);
        try (Scope _ = Scope.open();
                Task loop = new KernelTasks.Loop(spec);
                Task matrix = new KernelTasks.MatrixForm(spec);
                Task other = new KernelTasks.Loop(spec.with(Map.of("side", "5")))) {
            var expected = loop.check();
            double tolerance = Precision.F32.tolerance();
            assertThat(SideDifference.of(matrix.check(), expected).holds(tolerance))
                    .isTrue();
            assertThat(SideDifference.of(other.check(), expected).holds(tolerance))
                    .isFalse();
            expected.replaceAll((_, _) -> Double.NaN);
            assertThat(SideDifference.of(matrix.check(), expected).holds(tolerance))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GRAPHS", "MAX_AUTOTUNE"})
    void cudaGraphsAreRefusedOnTheCpu(PythonTorch.Mode mode) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bench.run(Tiny.plan(BenchWorkload.HEAD_TRAINING), null, List.of(mode), listener))
                .withMessageContainingAll(mode.text(), "GPU", "python-compiled");
    }

    @Test
    void missingPythonIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PythonTorch.find("no-such-python"))
                .withMessageContainingAll("no-such-python", "GRAMIAN_PYTHON");
    }
}
