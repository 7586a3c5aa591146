package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.cli.MadeUpEvaluation;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.evaluate.compare.EvaluationFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportCommandTest {
    @TempDir
    private Path root;

    private Path run(String name, long seed) throws IOException {
        Path folder = Files.createDirectories(root.resolve(name));
        EvaluationFile.write(folder.resolve("evaluation.json"), MadeUpEvaluation.of(seed, "third 1", 4, 2));
        return folder;
    }

    @Test
    void reportsOneRunAndComparesSeveral() throws IOException {
        Path first = run("first", 1);
        Path second = run("second", 2);
        Run one = Run.of("report", first);
        assertThat(one.code()).isEqualTo(ExitCode.DONE);
        assertThat(one.out().strip()).endsWith(first.resolve("report.html").toString());
        assertThat(first.resolve("report.html")).content().containsPattern("<h1>[^<]*first");
        assertThat(Run.of("report", first, second).code()).isEqualTo(ExitCode.DONE);
        assertThat(root.resolve("comparison.html"))
                .content()
                .containsPattern("<h1>[^<]*first, second")
                .contains("McNemar");
        Run twice = Run.of("report", first, second, root.resolve("second/../first"));
        assertThat(twice.code()).isEqualTo(ExitCode.USAGE);
        assertThat(twice.err()).contains("first");
        Run above = Run.of("report", root);
        assertThat(above.code()).isEqualTo(ExitCode.USAGE);
        assertThat(above.err()).contains(first + ", " + second);
        Path chosen = root.resolve("chosen.html");
        assertThat(Run.of("report", first, second, "--out", chosen).out().strip())
                .endsWith(chosen.toString());
    }

    @Test
    void rejectsFolderWithoutEvaluation() throws IOException {
        Path empty = Files.createDirectories(root.resolve("empty"));
        Run run = Run.of("report", empty);
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).contains(empty.toString()).doesNotContain("Exception");
        assertThat(TinyTraining.names(empty)).isEmpty();
    }
}
