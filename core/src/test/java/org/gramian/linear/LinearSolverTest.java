package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.TensorAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LinearSolverTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "svm",
                "svm:C=10",
                "svm:C=0.001",
                "svm:C=1e-7",
                "mean",
                "lda",
                "lda:shrinkage=0.1",
                "lda:shrinkage=0"
            })
    void textsRoundTrip(String text) {
        assertThat(LinearSolver.parse(text).text()).isEqualTo(text);
        assertThat(LinearSolver.parse(LinearSolver.parse(text).text())).isEqualTo(LinearSolver.parse(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        smv                | (did you mean 'svm'?)
        mean:3             | expected mean, found 'mean:3'
        svm:               | found 'svm:'
        svm:C=-1           | positive
        svm:C=0            | must be a positive number or auto, found 0
        svm:c=1            | unknown argument 'c' (did you mean 'C'?)
        svm:C=1e99         | must be a positive number or auto, found
        lda:shrinkage=1.5  | must be a number from 0 to 1 or auto, found 1.5
        lda:shrinkage=.    | found '.'
        lda:shrink=0.1     | (did you mean 'shrinkage'?)
        perceptron         | svm, mean, lda
        """)
    void invalidTextsAreRefusedWithAdvice(String text, String message) {
        assertThatThrownBy(() -> LinearSolver.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm", "mean", "lda"})
    void oneRowOfEachClassIsEnough(String solver) {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(4), 3, 5, 3);
        try (Scope _ = Scope.open()) {
            LinearModel model = rows.solve(solver);
            assertThat(rows.answers(model)).containsExactly(0, 1, 2);
            assertThat(model.crossValidation()).isEmpty();
            assertThat(model.found()).doesNotContainKey("temperature");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm", "mean", "lda"})
    void theSameRowsGiveTheSameBits(String solver) {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(3), 60, 9, 4);
        try (Scope _ = Scope.open()) {
            LinearModel one = rows.solve(solver);
            LinearModel two = rows.solve(solver);
            TensorAssert.assertTensor(two.weight()).isIdenticalTo(one.weight());
            TensorAssert.assertTensor(two.bias()).isIdenticalTo(one.bias());
        }
    }

    @ParameterizedTest
    @CsvSource({"svm,cross-validation of C", "svm,fitting svm", "mean,cross-validation", "lda,fitting lda"})
    void exceptionOfTheListenerStopsTheSolver(String solver, String task) {
        RuntimeException stop = new RuntimeException("stop");
        AtomicInteger thrown = new AtomicInteger();
        try (Scope _ = Scope.open()) {
            LabelledRows given =
                    SyntheticRows.of(new SplittableRandom(6), 60, 9, 6).rows();
            assertThatThrownBy(() -> LinearSolver.parse(solver).solve(given, (at, _, _) -> {
                        if (at.equals(task)) {
                            thrown.incrementAndGet();
                            throw stop;
                        }
                    }))
                    .isSameAs(stop);
        }
        assertThat(thrown).as("not called again").hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "svm,20000,26000,20001,26000",
        "svm,5000,65600,100000,30000",
        "lda,200000,2000,13000,13000",
        "mean,100000,5000,100000,6000"
    })
    void tooLargeProblemsAreRefusedBeforeAllocation(String text, long rows, long size, long moreRows, long moreSize) {
        LinearSolver solver = LinearSolver.parse(text);
        solver.requireRoom(rows, size);
        assertThatThrownBy(() -> solver.requireRoom(moreRows, moreSize))
                .has(facts(Long.toString(moreRows), Long.toString(moreSize), text, "pca:64"));
    }

    @Test
    void invalidRowsAreRefused() {
        try (Scope _ = Scope.open()) {
            Tensor rows = Tensors.zeros(Shape.of(3, 2), DType.F32, Device.CPU);
            int[] three = {0, 1, 2};
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 0, 2}, three, 3))
                    .has(facts("class", "1"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 1, 3}, three, 3))
                    .has(facts("0", "2", "3"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 1}, three, 2))
                    .has(facts("3", "rows"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[3], three, 1))
                    .has(facts("2", "classes"));
            Tensor wide = Tensors.zeros(Shape.of(3, 2), DType.F64, Device.CPU);
            assertThatThrownBy(() -> LabelledRows.of(wide, three, three, 3)).has(facts("[n, d]", "F64[3, 2]"));
            Tensor endless = Tensors.full(Double.NaN, Shape.of(3, 2), DType.F32, Device.CPU);
            assertThatThrownBy(() -> LabelledRows.of(endless, three, three, 3)).hasMessageContaining("finite");
            LabelledRows right = LabelledRows.of(rows, three, three, 3);
            assertThatThrownBy(() -> right.weighted(new double[] {1, 0, 1})).has(facts("positive", "weight"));
        }
    }
}
