package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.pooling.Fidelity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
}
