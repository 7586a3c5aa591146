package org.gramian.cli.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.cli.MadeUpEvaluation;
import org.gramian.image.audit.Audit;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.run.FoldResult;
import org.gramian.run.RunResult;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.Test;

class TrainSummaryTest {
    private static String text(int folds, int planned, Optional<Cancellation.Reason> early)
            throws InterruptedException {
        AuditReport audit = new Audit(
                        AuditOptions.DEFAULT,
                        _ -> {
                            throw new IllegalStateException("there are no pictures");
                        },
                        1)
                .of(new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of()), _ -> {});
        List<FoldResult> results = IntStream.rangeClosed(1, folds)
                .mapToObj(number -> new FoldResult(
                        Path.of("my run/fold-" + number),
                        MadeUpEvaluation.of(number, "third " + number, 2, 1),
                        Optional.empty(),
                        Optional.empty()))
                .toList();
        return new TrainSummary(new RunResult(results, audit, early), planned, new RunFolder(Path.of("my run"))).text();
    }

    @Test
    void incompleteRunStatesFinishedFolds() throws InterruptedException {
        assertThat(text(2, 3, Optional.of(Cancellation.Reason.OUT_OF_TIME))).has(facts("2 of 3"));
        assertThat(text(3, 3, Optional.empty())).doesNotContain("of 3");
    }

    @Test
    void printsPredictCommand() throws InterruptedException {
        assertThat(text(1, 1, Optional.empty())).contains("gramian predict 'my run/fold-1/model.safetensors' ");
    }
}
