package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalDouble;
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
                "svm:C=1.0E-7",
                "logistic",
                "logistic:C=3",
                "mean",
                "lda",
                "lda:shrinkage=0.1",
                "lda:shrinkage=0"
            })
    void textsRoundTrip(String text) {
        assertThat(LinearSolver.parse(text).text()).isEqualTo(text);
        assertThat(LinearSolver.parse(LinearSolver.parse(text).text())).isEqualTo(LinearSolver.parse(text));
    }

    @Test
    void argumentNameIsOptionalAndCaseIsIgnored() {
        assertThat(LinearSolver.parse(" SVM:1e1 ")).isEqualTo(new Svm(OptionalDouble.of(10)));
        assertThat(LinearSolver.parse("svm:C=auto")).isEqualTo(new Svm(OptionalDouble.empty()));
        assertThat(LinearSolver.parse("lda:auto")).isEqualTo(new Lda(OptionalDouble.empty()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    smv                | (did you mean 'svm'?)
                    mean:3             | takes no argument, found '3'
                    svm:               | must be a number of at least 0 or auto, found ''
                    svm:C=-1           | svm[:C=NUMBER
                    svm:C=0            | must be a positive number or auto, found 0
                    svm:c=1            | has no argument 'c' (did you mean 'C'?)
                    svm:C=1e99         | must be a positive number or auto, found
                    lda:shrinkage=1.5  | must be a number from 0 to 1 or auto, found 1.5
                    lda:shrinkage=.    | found '.'
                    lda:shrink=0.1     | (did you mean 'shrinkage'?)
                    perceptron         | svm, mean, lda, logistic
                    """)
    void invalidTextsAreRefusedWithAdvice(String text, String message) {
        assertThatThrownBy(() -> LinearSolver.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
