package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.gramian.cli.MadeUpEvaluation;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CompareCommandTest {
    @TempDir
    private Path root = Path.of("");

    private Path file(String name, Evaluation evaluation) throws IOException {
        Path file = root.resolve(name);
        EvaluationFile.write(file, evaluation);
        return file;
    }

    private Path run(String name, long seed, double skill) throws IOException {
        Path run = root.resolve(name);
        for (int i = 1; i <= 3; i++) {
            Path file = run.resolve(EvaluationFile.fold(i)).resolve(EvaluationFile.FILE);
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            EvaluationFile.write(file, MadeUpEvaluation.of(seed + i, "third " + i, 4, skill));
        }
        return run;
    }

    @Test
    void testsTwoFilesByImage() throws IOException {
        Evaluation first = MadeUpEvaluation.of(1, "third 1", 4, 3);
        Evaluation second = MadeUpEvaluation.of(2, "third 1", 4, 1);
        Path better = file("better.json", first);
        Path worse = file("worse.json", second);
        Run run = Run.of("compare", better, worse).done();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("A  " + better + System.lineSeparator() + "B  " + worse)
                .has(facts(PairedTest.of(first, second).text()))
                .containsPattern("accuracy % +\\S+ +\\S+\\R");
    }

    @Test
    void testsFoldsOfRunsTogether() throws IOException {
        Path first = run("first", 1, 2);
        Path second = run("second", 10, 1);
        Path json = root.resolve("comparison.json");
        Run run = Run.of("compare", first, second, "--json", json).done();
        assertThat(run.out()).has(facts("mean ± std", "3", "72")).doesNotContain("repeated");
        JsonNode document = JsonMapper.shared().readTree(json.toFile());
        assertThat(document.at("/format").asString()).isEqualTo("gramian-comparison");
        assertThat(document.at("/comparisons/0/images").asInt()).isEqualTo(72);
        assertThat(document.at("/results/0/accuracy/deviation").isNumber()).isTrue();
        double difference = document.at("/results/0/accuracy/mean").asDouble()
                - document.at("/results/1/accuracy/mean").asDouble();
        assertThat(document.at("/comparisons/0/difference").asDouble())
                .as("all folds are of one size")
                .isEqualTo(difference, within(1e-12));
    }

    @Test
    void comparesFirstWithEachOther() throws IOException {
        Path first = file("a.json", MadeUpEvaluation.of(1, "third 1", 4, 3));
        Path second = file("b.json", MadeUpEvaluation.of(2, "third 1", 4, 1));
        Path third = file("c.json", MadeUpEvaluation.of(3, "third 1", 4, 2));
        Run run = Run.of("compare", first, second, third);
        assertThat(run.out()).contains("0.05 / 2");
        assertThat(Run.of("compare", first, second).out()).doesNotContain("0.05 / ");
        Run printed = Run.of("compare", first, second, third, "--json", "-");
        assertThat(JsonMapper.shared().readTree(printed.out()).at("/comparisons"))
                .hasSize(2);
    }

    @Test
    void rejectsResultsThatAreNotComparable() throws IOException {
        Evaluation evaluation = MadeUpEvaluation.of(1, "third 1", 4, 3);
        Path here = file("here.json", evaluation);
        Setting elsewhere = new Setting("thirds:3", "third 1", new Fingerprint("b".repeat(64)), 0);
        Path other = file("other.json", new Evaluation(elsewhere, evaluation.classes(), evaluation.predictions()));
        Run.of("compare", here, other).refused(ExitCode.USAGE, "here.json", "other.json", "bbbbbbbbbbbb");
        Path two = file("two.json", MadeUpEvaluation.of(1, "third 2", 4, 3));
        Run.of("compare", here, two).refused(ExitCode.USAGE, "'third 1'", "'third 2'");
        Run.of("compare", here, run("run", 1, 2)).refused(ExitCode.USAGE, "'third 2'", "'third 3'");
        Run.of("compare", here, root.resolve("absent.json")).refused(ExitCode.USAGE, "absent.json");
        Run.of("compare", here).refused(ExitCode.USAGE, "RESULT");
    }

    @Test
    void jsonNeverReplacesResult() throws IOException {
        Path first = file("a.json", MadeUpEvaluation.of(1, "third 1", 4, 3));
        Path second = file("b.json", MadeUpEvaluation.of(2, "third 1", 4, 1));
        String before = Files.readString(second);
        Run.of("compare", first, second, "--json", second).failed(ExitCode.USAGE, "--json", "b.json");
        assertThat(second).hasContent(before);
    }
}
