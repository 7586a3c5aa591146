package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.pooling.Fidelity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/fidelity.md is the list of points, which is complete. */
class FidelityPageTest {
    private static final Path PAGE = Path.of("..", "docs", "fidelity.md");
    private static final Path EXPECTED = Path.of("target", "fidelity.md");

    private static final String INTRODUCTION = """
            # Fidelity

            Generated from the values of the program. What the paper prints, what its authors' released code does, and the corrected
            formulas, which are the default, differ in these points ([Mathematics](mathematics.md#three-fidelities) explains them).
            `./gramian train DIR --fidelity paper` or `authors` uses theirs; options, keys and arguments of `--pooling` that you set take
            precedence.

            ## Formulas

            """;

    @Test
    void pageIsGeneratedFromThePoints() throws IOException {
        String expected =
                INTRODUCTION + table(FidelityPoint.mathematics()) + "\n## Recipe\n\n" + table(FidelityPoint.recipe());
        Files.createDirectories(EXPECTED.getParent());
        Files.writeString(EXPECTED, expected);
        assertThat(Files.readString(PAGE))
                .as("docs/fidelity.md is out of date: replace it by core/target/fidelity.md, which this test writes")
                .isEqualTo(expected);
    }

    private static String table(List<FidelityPoint> points) {
        return points.stream()
                .map(point -> Stream.of(
                                point.name(), point.paper(), point.authors(), point.corrected(), point.setting())
                        .map(cell -> cell.replace("|", "\\|").replace("<", "\\<"))
                        .collect(Collectors.joining(" | ", "| ", " |\n")))
                .collect(Collectors.joining(
                        "", "| point | paper | authors | corrected | set by |\n|---|---|---|---|---|\n", ""));
    }

    private static List<FidelityPoint> points(String way) {
        return Stream.concat(FidelityPoint.mathematics().stream(), FidelityPoint.recipe().stream())
                .filter(point -> point.setting().startsWith(way))
                .toList();
    }

    /** The values as they stand in the statement of the three variants. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "rbf:sigma=; mean; 50; mean",
                "rbf:jitter=; 0; 0; 1e-4",
                "stiefel.metric; canonical; euclidean; canonical",
                "stiefel.multiplier; other parameters; 1e-5 momentum decay; 0.001 momentum",
                "stiefel.retraction; qr-unsigned; qr-unsigned; qr",
                "spd:<size>,init=; Q Gaussian; Xavier orthonormal; Q Gaussian",
                "spd:<size>,init=; ≤ C; C; ≤ C",
                "root:eps=; ε 0; ε 0 0.5·g/(|y| 0.03; ε 1e-5",
                "network.logit-norm; softmax; batch norm softmax; softmax",
                "conv:<channels>,bias=; 0; 0.2; 0.2",
                "optimizer.name; sgd; sgd; adamw sgd",
                "stage2.rate; 0.001; 1e-5; 0.001 0.002 adamw",
                "optimizer.weight-decay; 0.0005 0.02 adamw; 5e-6; 0.0005 0.02 adamw",
                "network.pooling; paper; paper; auto default epochs"
            })
    void everyPointHasItsThreeValues(String way, String paper, String authors, String corrected) {
        assertThat(points(way)).anySatisfy(point -> {
            assertThat(point.paper()).has(facts((Object[]) paper.split(" ")));
            assertThat(point.authors()).has(facts((Object[]) authors.split(" ")));
            assertThat(point.corrected()).has(facts((Object[]) corrected.split(" ")));
        });
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void everySettingOfAFidelityIsListed(Fidelity fidelity) {
        String ways = Stream.concat(FidelityPoint.mathematics().stream(), FidelityPoint.recipe().stream())
                .map(FidelityPoint::setting)
                .toList()
                .toString();
        assertThat(DefaultResolver.ofFidelity(fidelity, true).values().keySet())
                .allSatisfy(key -> assertThat(ways).contains(key));
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void everyArgumentOfAFidelityIsListed(Fidelity fidelity) {
        for (String word : List.of("conv", "rbf", "spd", "triu", "root")) {
            assertThat(fidelity.arguments(word)).isNotEmpty();
            fidelity.arguments(word)
                    .keySet()
                    .forEach(argument -> assertThat(FidelityPoint.mathematics())
                            .as(word + ":" + argument)
                            .anyMatch(point -> point.setting().startsWith(word + ":")
                                    && point.setting().contains(argument + "=")));
        }
    }

    @Test
    void everyMathematicalPointDiffersBetweenFidelities() {
        assertThat(FidelityPoint.mathematics())
                .hasSize(12)
                .allMatch(point -> point.differs(Fidelity.PAPER, Fidelity.CORRECTED)
                        || point.differs(Fidelity.AUTHORS, Fidelity.CORRECTED));
    }
}
