package org.gramian.cli.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EvaluationTable;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.Version;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.LabelReview;
import org.gramian.report.ReviewPage;
import org.gramian.report.run.RunReport;
import org.gramian.run.ExistingRun;
import org.gramian.run.RunResult;
import org.gramian.run.RunResult.FoldResult;

/** Final output of a run: metrics, summary.txt and the report. */
public record TrainSummary(RunResult result, int planned, RunFolder folder) {
    String text() {
        List<FoldResult> folds = result.folds();
        List<Evaluation> evaluations =
                folds.stream().map(FoldResult::evaluation).toList();
        StringBuilder text = new StringBuilder();
        text.append(
                folds.size() == 1
                        ? new EvaluationTable(evaluations.getFirst()).text()
                        : EvaluationTable.ofFolds(evaluations));
        Stream.of(afterFirst(), incomplete(), sampled(), leftOut())
                .flatMap(Optional::stream)
                .forEach(line -> text.append(line).append(System.lineSeparator()));
        text.append(System.lineSeparator());
        for (FoldResult fold : folds) {
            text.append("model: ").append(fold.model()).append(System.lineSeparator());
        }
        text.append("try: ")
                .append(CommandHint.of("predict", folds.getFirst().model(), "IMAGE"))
                .append(System.lineSeparator());
        return text.toString();
    }

    private Optional<String> afterFirst() {
        List<Evaluation> first = result.folds().stream()
                .flatMap(fold -> fold.afterFirst().stream())
                .toList();
        List<Evaluation> last =
                result.folds().stream().map(FoldResult::evaluation).toList();
        if (first.size() < result.folds().size() || first.equals(last)) { // the frozen model stays
            return Optional.empty();
        }
        return Optional.of("test accuracy with frozen backbone: "
                + FoldSummary.of(first).text(Metric.ACCURACY) + " %, fine-tuned: "
                + result.summary().text(Metric.ACCURACY) + " %");
    }

    /** Numbers of a part of the run, or of a model that would have learned more, are no numbers of the run. */
    private Optional<String> incomplete() {
        return result.early()
                .map(reason -> result.folds().size() + " of " + planned
                        + (planned == 1 ? " fold" : " folds")
                        + switch (reason) {
                            case OUT_OF_TIME -> "; stopped by the time budget";
                            case CANCELLED -> "; interrupted";
                        });
    }

    /** The images that the time budget allowed. */
    private Optional<String> sampled() {
        if (result.folds().stream().anyMatch(FoldResult::isFirstModel)) {
            return Optional.of(
                    "this is the first model of the run, a linear classifier on average pooling; --resume trains"
                            + " further");
        }
        try {
            return new ExistingRun(folder.path())
                    .sample()
                    .map(sample -> "trained and tested on %d of %d images, a stratified random sample"
                            .formatted(sample.used(), sample.all()));
        } catch (IOException damaged) {
            throw new UncheckedIOException(damaged);
        }
    }

    private Optional<String> leftOut() {
        int lost = result.audit().unreadable().size();
        return lost == 0
                ? Optional.empty()
                : Optional.of("skipped as unreadable: %d of %d images (exit code %d)"
                        .formatted(lost, result.audit().images(), ExitCode.DATA));
    }

    /** Prints and writes the summary of a command's run, then its report. */
    void publish(Console console, boolean withReport) throws IOException {
        console.print(text());
        write();
        if (withReport) {
            report(console::say);
        }
    }

    void write() throws IOException {
        String text = text();
        AtomicFile.putText(folder.path().resolve("summary.txt"), out -> out.write(text));
    }

    /** Writes the page of the run; one that cannot be made is no reason to lose anything else. */
    private void report(Consumer<String> remarks) {
        Path page = folder.path().resolve(RunReport.FILE);
        try {
            RunReport.write(List.of(folder.path()), page, Version.number());
            remarks.accept("report: " + page);
        } catch (IOException failed) {
            remarks.accept("report not written: " + Failures.sentence(failed) + "; try: "
                    + CommandHint.of("report", folder.path()));
        }
        try {
            for (FoldResult fold : result.folds()) {
                if (fold.early().isEmpty()) { // the final model
                    review(fold.folder()).ifPresent(review -> remarks.accept("review of labels: " + review));
                }
            }
        } catch (IOException failed) {
            remarks.accept("review of labels not written: " + Failures.sentence(failed));
        }
    }

    private Optional<Path> review(Path fold) throws IOException {
        Path config = folder.path().resolve(ExistingRun.CONFIG);
        Path list = fold.resolve(LabelReview.FILE);
        String images = folder.typedImages().orElse("DIR");
        String command = CommandHint.of("train", images, "--config", config, "--labels", list);
        return ReviewPage.write(fold, command, Version.number());
    }
}
