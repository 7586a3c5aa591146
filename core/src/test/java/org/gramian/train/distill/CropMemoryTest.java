package org.gramian.train.distill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CropMemoryTest {
    private static final int BATCH = 3;

    /** Takes all steps of an epoch from one of them on; a crop is known by the value of its pixels. */
    private static List<List<Integer>> steps(int batches, int passes, int block, int atOnce, int start) {
        List<List<Integer>> taken = new ArrayList<>();
        try (Scope _ = Scope.open();
                CropMemory memory = new CropMemory(
                        new CropMemory.Plan(BATCH, batches, passes, block, 5),
                        Tensors.zeros(Shape.of(block * BATCH, 1, 1, 1), DType.F32, Device.CPU),
                        List.of(new Teacher.Output(
                                List.of(Tensors.zeros(Shape.of(block * BATCH, 1, 1, 1), DType.BF16, Device.CPU)),
                                null)))) {
            int rendered = memory.seek(start);
            int step = start;
            while (step < batches * passes) {
                int possible = memory.begin(2, step, atOnce);
                while (memory.missing() > 0) {
                    double[] values = {BATCH * rendered, BATCH * rendered + 1, BATCH * rendered + 2};
                    Tensor crops = Tensors.of(values, Shape.of(BATCH, 1, 1, 1), DType.F32);
                    memory.add(new DistillSteps.Batch(crops, List.of(new Teacher.Output(List.of(crops), null))));
                    rendered++;
                }
                for (int i = 0; i < possible; i++) {
                    int first = memory.first() + i * BATCH;
                    long[] rows = Arrays.stream(memory.order(), first, first + BATCH)
                            .asLongStream()
                            .toArray();
                    DistillSteps.Batch batch = memory.get(Tensors.ofLongs(rows, Shape.of(BATCH)));
                    double[] seen = batch.input().toDoubles();
                    assertThat(batch.targets().getFirst().maps().getFirst().toDoubles())
                            .isEqualTo(seen);
                    taken.add(Arrays.stream(seen).mapToObj(value -> (int) value).toList());
                }
                step += possible;
            }
        }
        return taken;
    }

    @ParameterizedTest(name = "{0} batches, {1} passes, blocks of {2}, {3} steps at once")
    @CsvSource({"4, 3, 4, 1", "5, 3, 2, 1", "5, 4, 3, 8", "1, 2, 1, 8", "6, 2, 3, 2"})
    void eachCropTakesPartInAsManyStepsAsThereArePasses(int batches, int passes, int block, int atOnce) {
        List<List<Integer>> taken = steps(batches, passes, block, atOnce, 0);
        assertThat(taken).hasSize(batches * passes);
        int[] uses = new int[batches * BATCH];
        taken.forEach(batch -> batch.forEach(crop -> uses[crop]++));
        assertThat(uses).containsOnly(passes);
        assertThat(taken.getFirst()).containsExactly(0, 1, 2);
        assertThat(steps(batches, passes, block, 1, 0)).isEqualTo(taken);
    }

    @ParameterizedTest(name = "from step {0}")
    @CsvSource({"0", "1", "3", "4", "7", "11", "12", "14"})
    void theRestOfAnEpochIsTheSameFromEveryStep(int start) {
        List<List<Integer>> whole = steps(5, 3, 2, 1, 0);
        assertThat(steps(5, 3, 2, 1, start)).isEqualTo(whole.subList(start, whole.size()));
    }
}
