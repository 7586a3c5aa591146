package org.gramian.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.assertj.core.data.Offset;
import org.gramian.benchmarks.WorkloadResult.Trajectory;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;

/** What a plan measures, what it refuses, and how operations are counted. */
class BenchPlanTest {
    private static final BenchPlan.Sizes PAPER =
            new BenchPlan.Sizes("conv:512/rbf/spd:512/relu/triu/root/l2", "vgg16", 512, 14, 224, 47);

    private static List<BenchPlan.Case> cases(
            List<BenchWorkload> workloads, List<Integer> batches, Precision... precisions) {
        BenchPlan.Grid grid = new BenchPlan.Grid(batches, List.of(precisions), Device.CPU, 1);
        return new BenchPlan(workloads, grid, PAPER, Tiny.ONCE).cases();
    }

    private static double operations(BenchWorkload workload, int batch) {
        BenchPlan.Case found = cases(List.of(workload), List.of(batch)).getFirst();
        return Operations.of(found.workload(), found.spec()).orElseThrow();
    }

    @Test
    void groupNameSelectsForwardAndTraining() {
        assertThat(BenchWorkload.chosen(List.of("head", "network-forward", "head-training")))
                .containsExactly(
                        BenchWorkload.HEAD_FORWARD, BenchWorkload.HEAD_TRAINING, BenchWorkload.NETWORK_FORWARD);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BenchWorkload.chosen(List.of("heads")))
                .withMessageContainingAll("'heads'", "network-training");
    }

    @Test
    void batchesAndPrecisionsAreCombined() {
        List<BenchPlan.Case> found = cases(
                List.of(
                        BenchWorkload.HEAD_FORWARD,
                        BenchWorkload.NETWORK_FORWARD,
                        BenchWorkload.IMAGES,
                        BenchWorkload.PREDICTION),
                List.of(2, 4),
                Precision.F32,
                Precision.BF16);
        assertThat(found)
                .extracting(BenchPlan.Case::workload)
                .containsExactly(
                        BenchWorkload.HEAD_FORWARD,
                        BenchWorkload.HEAD_FORWARD,
                        BenchWorkload.NETWORK_FORWARD,
                        BenchWorkload.NETWORK_FORWARD,
                        BenchWorkload.NETWORK_FORWARD,
                        BenchWorkload.NETWORK_FORWARD,
                        BenchWorkload.IMAGES,
                        BenchWorkload.PREDICTION,
                        BenchWorkload.PREDICTION);
        assertThat(found.stream().map(each -> each.workload().title(each.spec())))
                .zipSatisfy(
                        List.of("2, f32", "4, f32", "2, f32", "2, bf16", "4, f32", "4, bf16", "150", "2", "4"),
                        (title, end) -> assertThat(title).matches(".*\\b" + end));
    }

    @Test
    void invalidPlansAreRejectedWithAdvice() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cases(List.of(BenchWorkload.HEAD_FORWARD), List.of(2), Precision.TF32))
                .withMessageContainingAll("f32", "bf16");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cases(List.of(BenchWorkload.HEAD_FORWARD), List.of(2), Precision.BF16))
                .withMessageContaining("--only network");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cases(List.of(BenchWorkload.HEAD_FORWARD), List.of(0)))
                .withMessageMatching(".*\\b1\\b.*\\b0\\b.*");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new BenchPlan(
                        List.of(BenchWorkload.NETWORK_FORWARD),
                        Tiny.grid(),
                        new BenchPlan.Sizes("average", "vgg61", 2, 1, 32, 2),
                        Tiny.ONCE))
                .withMessageContaining("vgg16");
    }

    @Test
    void operationsMatchTheFormula() {
        double c = 512;
        double positions = 196;
        double head = 2 * c * c * positions * 2 + 4 * c * c * c + 2 * 47 * (c * (c + 1) / 2);
        assertThat(operations(BenchWorkload.HEAD_FORWARD, 1)).isEqualTo(head);
        assertThat(operations(BenchWorkload.HEAD_TRAINING, 32))
                .isEqualTo(96 * head)
                .isBetween(72e9, 73e9);
        // the 15.3 billion multiplications of VGG-16's convolutions that the literature counts
        double vgg = operations(BenchWorkload.BACKBONE_FORWARD, 1);
        assertThat(vgg / 2).isBetween(15.2e9, 15.4e9);
        assertThat(operations(BenchWorkload.NETWORK_FORWARD, 1)).isEqualTo(vgg + head);
        double first = 2.0 * 64 * 27 * 224 * 224;
        assertThat(operations(BenchWorkload.NETWORK_TRAINING, 2)).isEqualTo(2 * (3 * (vgg + head) - first));
    }

    @Test
    void poolingWithoutFormulaHasNoRate() {
        BenchPlan.Sizes sizes = new BenchPlan.Sizes("conv:8/covariance/isqrt/triu", "vgg16", 8, 4, 32, 2);
        BenchPlan plan = new BenchPlan(List.of(BenchWorkload.HEAD_FORWARD), Tiny.grid(Precision.F32), sizes, Tiny.ONCE);
        assertThat(Operations.of(
                        BenchWorkload.HEAD_FORWARD, plan.cases().getFirst().spec()))
                .isEmpty();
    }

    @Test
    void trajectoriesDifferByTheirWorstStep() {
        Trajectory course = new Trajectory(List.of(4.0, 2.0, 1.0), List.of(4.0, 1.9, 1.0), "python", 1e-3);
        assertThat(course.largestDifference()).isEqualTo(0.1 / 2, Offset.offset(1e-12));
        assertThat(course.toString()).contains("MORE THAN the tolerance of 1e-03");
        assertThat(new Trajectory(course.first(), course.second(), "python", 0.1).toString())
                .contains("within the tolerance of 1e-01");
        assertThat(new Trajectory(List.of(1.0), List.of(Double.NaN), "python", 1e-3).largestDifference())
                .isInfinite();
        assertThatIllegalArgumentException().isThrownBy(() -> new Trajectory(List.of(1.0), List.of(), "python", 1e-3));
    }
}
