package org.gramian.cli.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gramian.cli.Run;
import org.gramian.cli.TinyTraining;
import org.gramian.cli.common.ExitCode;
import org.gramian.run.config.FidelityPoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class FidelityCommandTest {
    @Test
    void everyPointHasALineOfThreeValues() {
        Run run = Run.of("fidelity");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines())
                .anyMatch(line -> line.matches("\\w+ +paper +authors +corrected"))
                .anyMatch(line -> line.matches("jitter +0 +0 +1e-4"))
                .anyMatch(line -> line.matches("retraction +qr-unsigned +qr-unsigned +qr"))
                .anyMatch(line -> line.matches("stage1.rate +0.1 +1e-5 +1, .*0.1.*"));
        FidelityPoint.mathematics().forEach(point -> assertThat(run.out()).contains(point.name(), point.corrected()));
        FidelityPoint.recipe().forEach(point -> assertThat(run.out()).contains(point.name()));
    }

    @Test
    void oneFidelityIsShownByWhatItChangesAndHowToUseIt() {
        Run run = Run.of("fidelity", "authors");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("rbf:sigma=", "stage2.epochs", "train DIR --fidelity authors")
                .doesNotContain("triu:gradient="); // theirs is right
        assertThat(Run.of("fidelity", "corrected").out()).contains("triu:gradient=", "--fidelity corrected");
    }

    @Test
    void jsonAndCsvHoldTheSame() {
        JsonNode all = JsonMapper.shared()
                .readTree(Run.of("fidelity", "--format", "json").out());
        assertThat(all.get("mathematics").size())
                .isEqualTo(FidelityPoint.mathematics().size());
        assertThat(all.get("recipe").get(0).get("setting").asString()).isEqualTo("data.crops");
        assertThat(Run.of("fidelity", "--format", "csv").out().lines())
                .hasSize(1
                        + FidelityPoint.mathematics().size()
                        + FidelityPoint.recipe().size())
                .contains("jitter,0,0,1e-4,rbf:jitter=");
    }

    @Test
    void theTablesOfTheDocumentationAreWhatTheCommandPrints() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "mathematics.md"));
        for (String table : Run.of("fidelity", "--format", "markdown").out().split("\n\n", -1)) {
            assertThat(page.contains(table.strip()))
                    .as("docs/mathematics.md holds a table of ./gramian fidelity --format markdown:\n" + table)
                    .isTrue();
        }
    }

    @Test
    void aMistypedWordGetsTheNearest() {
        Run run = Run.of("fidelity", "authers");
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.err()).has(facts("'authers'", "'authors'"));
    }

    @Test
    void aRunRecordsWhichFidelityItUsed(@TempDir Path folder) throws IOException {
        TinyTraining training = TinyTraining.in(folder);
        Path out = folder.resolve("run");
        Run run = training.train(out, "--fidelity", "paper", "--epochs", "1");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(Files.readString(out.resolve("config.yaml"))).containsPattern("(?m)^fidelity: paper");
        assertThat(Run.of("show", "--all", out).out()).containsPattern("fidelity +paper");
    }
}
