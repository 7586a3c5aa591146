package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.pooling.Fidelity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The list of points says what the mathematics of the paper's three fidelities is, and leaves nothing out. */
class FidelityPointTest {
    private static FidelityPoint point(String name) {
        return Stream.concat(FidelityPoint.mathematics().stream(), FidelityPoint.recipe().stream())
                .filter(point -> point.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The values as they stand in the statement of the three variants. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "σ; mean distance, a constant; 50; mean distance, a constant",
                "jitter; 0; 0; 1e-4",
                "Stiefel gradient; canonical; euclidean; canonical",
                "step of W; the common learning rate; constant 1e-5, no momentum, no decay;"
                        + " 0.001 of the learning rate, momentum transported",
                "retraction; qr-unsigned; qr-unsigned; qr",
                "W at the start; Q of a Gaussian; Xavier, not orthonormal; Q of a Gaussian",
                "C'; any ≤ C; C only, others are refused; any ≤ C",
                "root; ε = 0; ε = 0, backward 0.5·g/(|y| + 0.03); ε = 1e-5",
                "after the classifier; softmax; batch norm, softmax; softmax",
                "bias of the 1×1 convolution at the start; 0; 0.2; 0.2",
                "optimizer.name; sgd; sgd; adamw where the backbone is fine-tuned, else sgd",
                "stage2.rate; 0.001; 1e-5; 0.001, or 0.002 under adamw",
                "optimizer.weight-decay; 0.0005, or 0.02 under adamw; 5e-6; 0.0005, or 0.02 under adamw",
                "network.pooling; paper; paper; \"auto; default where stage 1 is trained by epochs\""
            })
    void everyPointHasItsThreeValues(String name, String paper, String authors, String corrected) {
        FidelityPoint point = point(name);
        assertThat(List.of(point.paper(), point.authors(), point.corrected()))
                .containsExactly(paper, authors, corrected);
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void everySettingThatAFidelityAsksForIsAPointOrTheWayOfOne(Fidelity fidelity) {
        String ways = Stream.concat(FidelityPoint.mathematics().stream(), FidelityPoint.recipe().stream())
                .map(FidelityPoint::way)
                .toList()
                .toString();
        assertThat(Followed.of(fidelity, true).values().keySet())
                .allSatisfy(key -> assertThat(ways).contains(key));
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void everyArgumentThatAFidelityDecidesIsAPoint(Fidelity fidelity) {
        for (String word : List.of("conv", "rbf", "spd", "triu", "root")) {
            assertThat(fidelity.arguments(word)).isNotEmpty();
            fidelity.arguments(word)
                    .keySet()
                    .forEach(argument -> assertThat(FidelityPoint.mathematics())
                            .as(word + ":" + argument)
                            .anyMatch(point -> point.way().startsWith(word + ":")
                                    && point.way().contains(argument + "=")));
        }
    }

    @Test
    void everyPointOfTheMathematicsTellsTwoFidelitiesApart() {
        assertThat(FidelityPoint.mathematics())
                .hasSize(12)
                .allMatch(point -> point.differs(Fidelity.PAPER, Fidelity.CORRECTED)
                        || point.differs(Fidelity.AUTHORS, Fidelity.CORRECTED));
    }
}
