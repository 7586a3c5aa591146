package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Pooling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MethodsCommandTest {
    static List<String> names() {
        return Methods.names();
    }

    @Test
    void listsMethodsByFamilyWithSizes() {
        Run run = Run.of("methods").done();
        List<String> lines = run.out().lines().toList();
        for (Method method : Methods.all()) {
            assertThat(lines)
                    .filteredOn(line -> line.startsWith(method.name() + " "))
                    .singleElement()
                    .asString()
                    .contains(method.title(), method.classifier(), method.pooling());
            assertThat(lines).contains(method.family().text());
        }
        assertThat(lines)
                .anyMatch(line -> line.matches("bcnn +B-CNN +131,328 +0 +softmax +bilinear/triu/root/l2"))
                .anyMatch(line -> line.matches("gem +GeM +512 +1 +softmax +gem:3/l2"))
                .anyMatch(line -> line.matches("default +SPD .* +8,256 +328,192 +softmax +.*"));
        assertThat(run.out()).has(facts("vgg16", "conv5_3", "512", "14×14", "224×224"));
    }

    @Test
    void showsWhyMethodDoesNotFit() {
        Run run = Run.of("methods", "--backbone", "vgg16", "--layer", "fc6").done();
        assertThat(run.out().lines())
                .anyMatch(line -> line.matches("spatial-pyramid .* - +- +softmax +pyramid:3/l2  .*4×4.* 1×1 .*"));
        Run named = Run.of("methods", "spatial-pyramid", "--backbone", "vgg16", "--layer", "fc6");
        assertThat(named.out()).containsPattern("pyramid:3 .*4×4");
    }

    @ParameterizedTest
    @MethodSource("names")
    void showsFormulaReferenceAndStagesOfMethod(String name) {
        Method method = Methods.find(name).orElseThrow();
        Run run = Run.of("methods", name).done();
        assertThat(run.out()).contains(method.title(), method.formula(), method.reference(), method.pooling());
        for (String part : Pooling.parse(method.pooling()).text().split("[/+*]", -1)) {
            String word = part.replaceAll("[\\[\\]()]|:.*", ""); // joins are [A+B], sums of kernels (A+B*C)
            assertThat(run.out()).containsPattern("(?m)^" + word + " +\\S");
        }
    }

    @Test
    void rejectsWrongArguments() {
        Run.of("methods", "bccn").failed(ExitCode.USAGE, "'bccn'", "'bcnn'", "gramian methods");
        Run layer = Run.of("methods", "--backbone", "vgg16", "--layer", "conv5_4");
        assertThat(layer.code()).isEqualTo(ExitCode.USAGE);
    }
}
