package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.augment.CropParameters.Rectangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.train.loop.BatchMixing.Draw;
import org.gramian.train.loop.BatchMixing.Mixed;
import org.gramian.train.loop.LoadedExamples.LoadedPass;
import org.gramian.train.loop.StageProgress.EpochSums;
import org.gramian.train.recipe.Recipe.Augmenting;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchMixingTest {
    private static final int SIZE = 6;
    private static final int DRAWS = 20_000;
    private static final int[] LABELS = {2, 0, 1};
    private static final StageProgress START = StageProgress.startOf(2, ValidationScore.NONE, 1);

    private static BatchMixing mixing(double mixup, double cutmix) {
        return new BatchMixing(new Augmenting(Augmentation.NONE, 16, mixup, cutmix), 7);
    }

    private static Draw draw(BatchMixing mixing, int step) {
        return mixing.draw(START, step, 0, 32);
    }

    /** Beta(α, α) has the mean ½ and the variance 1/(4(2α + 1)). */
    @ParameterizedTest
    @CsvSource({"0.05", "0.2", "1", "4"})
    void sharesAreBetaDistributed(double alpha) {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < DRAWS; i++) {
            double share = draw(mixing(alpha, 0), i).labels();
            assertThat(share).isBetween(0.0, 1.0);
            sum += share;
            squares += (share - 0.5) * (share - 0.5);
        }
        assertThat(sum / DRAWS).isCloseTo(0.5, within(0.015));
        assertThat(squares / DRAWS).isCloseTo(1 / (4 * (2 * alpha + 1)), within(0.005));
    }

    @Test
    void cutRectanglesHaveTheAreaOfTheLabels() {
        for (int i = 0; i < 2000; i++) {
            Draw draw = draw(mixing(0, 1), i);
            Rectangle pasted = draw.pasted();
            assertThat(draw.pixels()).isEqualTo(1);
            assertThat(draw.labels()).isEqualTo(1 - pasted.area() / (32.0 * 32));
            assertThat(pasted.left()).isBetween(0, pasted.right());
            assertThat(pasted.top()).isBetween(0, pasted.bottom());
            assertThat(pasted.right()).isLessThanOrEqualTo(32);
            assertThat(pasted.bottom()).isLessThanOrEqualTo(32);
        }
    }

    @Test
    void bothTakeTurnsAndEachStepDrawsAnew() {
        BatchMixing both = mixing(0.5, 1);
        Set<Draw> draws = new HashSet<>();
        int cut = 0;
        for (int i = 0; i < 1000; i++) {
            Draw draw = draw(both, i);
            assertThat(draw(both, i)).isEqualTo(draw);
            draws.add(draw);
            cut += draw.pixels() == 1 ? 1 : 0;
        }
        assertThat(cut).isBetween(400, 600);
        assertThat(draws).hasSizeGreaterThan(950);
    }

    private static Tensor images() {
        double[] values = new double[LABELS.length * 3 * SIZE * SIZE];
        Arrays.setAll(values, i -> Math.sin(i));
        return Tensors.of(values, Shape.of(LABELS.length, 3, SIZE, SIZE), DType.F32);
    }

    private static Tensor targets() {
        return Tensors.of(new double[] {0, 0, 1, 1, 0, 0, 0, 1, 0}, Shape.of(3, 3), DType.F32);
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "0, 1"})
    void imagesAndTargetsAreMixedWithTheNextOfTheBatch(double mixup, double cutmix) {
        BatchMixing mixing = mixing(mixup, cutmix);
        for (int step = 0; step < 50; step++) {
            try (Scope _ = Scope.open()) {
                StageProgress position = START.stepped(new Steps.StepResult(step, EpochSums.NONE));
                Draw draw = mixing.draw(position, step, 0, SIZE);
                Mixed mixed = mixing.apply(new Mixed(new Examples.Minibatch(images(), LABELS), targets()), position, 0);
                float[] plain = images().toFloats();
                float[] found = mixed.batch().input().toFloats();
                int image = 3 * SIZE * SIZE;
                for (int i = 0; i < found.length; i++) {
                    int x = i % SIZE;
                    int y = i / SIZE % SIZE;
                    Rectangle pasted = draw.pasted();
                    boolean inside =
                            x >= pasted.left() && x < pasted.right() && y >= pasted.top() && y < pasted.bottom();
                    double own = inside ? 0 : draw.pixels();
                    assertThat((double) found[i])
                            .isCloseTo(own * plain[i] + (1 - own) * plain[(i + image) % plain.length], within(1e-6));
                }
                float[] rows = mixed.targets().toFloats();
                for (int i = 0; i < 3; i++) {
                    int next = LABELS[(i + 1) % 3];
                    assertThat((double) rows[3 * i + LABELS[i]]).isCloseTo(draw.labels(), within(1e-6));
                    assertThat((double) rows[3 * i + next]).isCloseTo(1 - draw.labels(), within(1e-6));
                    assertThat(mixed.batch().labels()[i]).isEqualTo(draw.labels() >= 0.5 ? LABELS[i] : next);
                }
            }
        }
    }

    @Test
    void aSingleImageStaysAsItIs() {
        try (Scope _ = Scope.open()) {
            Tensor image = Tensors.zeros(Shape.of(1, 3, SIZE, SIZE), DType.F32, Device.CPU);
            Mixed plain = new Mixed(new Examples.Minibatch(image, new int[] {1}), targets());
            assertThat(mixing(1, 1).apply(plain, START, 0)).isSameAs(plain);
        }
    }

    /** Size of the images of a batch that is mixed on a GPU. */
    private record Sized(int size, Device device) implements LoadedExamples {
        @Override
        public LoadedPass loaded(int[] order, int batch, long epoch) {
            throw new UnsupportedOperationException("only the size is known");
        }

        @Override
        public int count() {
            return LABELS.length;
        }

        @Override
        public int label(int place) {
            return LABELS[place];
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "0, 1", "0.5, 0.5"})
    void theGpuMixesAsTheCpu(double mixup, double cutmix) {
        Device gpu = Gpu.required();
        BatchMixing mixing = mixing(mixup, cutmix);
        try (Scope _ = Scope.open();
                BatchMixing.OnDevice onDevice = mixing.on(gpu, new Sized(SIZE, gpu))) {
            for (int step = 0; step < 20; step++) {
                StageProgress position = START.stepped(new Steps.StepResult(step, EpochSums.NONE));
                Mixed expected =
                        mixing.apply(new Mixed(new Examples.Minibatch(images(), LABELS), targets()), position, 0);
                onDevice.set(position, step);
                long[] labels = Arrays.stream(LABELS).asLongStream().toArray();
                BatchMixing.Rows found = onDevice.apply(new BatchMixing.Rows(
                        images().to(gpu),
                        targets().to(gpu),
                        Tensors.ofLongs(labels, Shape.of(3)).to(gpu)));
                assertThat(found.input().toFloats())
                        .containsExactly(expected.batch().input().toFloats(), within(1e-5f));
                assertThat(found.targets().toFloats())
                        .containsExactly(expected.targets().toFloats(), within(1e-5f));
                assertThat(Arrays.stream(found.labels().toLongs()).mapToInt(label -> (int) label))
                        .containsExactly(
                                Arrays.stream(expected.batch().labels()).boxed().toArray(Integer[]::new));
            }
        }
    }
}
