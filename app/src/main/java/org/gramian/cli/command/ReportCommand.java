package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.gramian.basis.AtomicFile;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TrainedModel;
import org.gramian.cli.common.Version;
import org.gramian.report.DetectorReport;
import org.gramian.report.run.RunReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian report}: writes an HTML report of one or several runs. */
@Command(name = "report", header = "Write an HTML report of one or several runs.", description = """
    Writes one self-contained HTML file: accuracy with confidence interval, learning curves, confusion matrix with
    its images, precision and recall per class, most confident errors, calibration, a map of the test images,
    pooling statistics, configuration and model. Several runs are compared first.
    Examples: gramian report runs/2026-11-15-fmd
    gramian report runs/average runs/spd --out comparison.html\
    """)
public final class ReportCommand extends ConsoleCommand {
    private static final String OF_SEVERAL = "comparison.html";

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FILE",
            description = {
                "output file (default: " + RunReport.FILE + " in the run folder; for several runs, " + OF_SEVERAL,
                "in the parent folder of the first)"
            })
    private @Nullable Path out;

    @Parameters(arity = "1..*", paramLabel = "RUN", description = "run folders of 'gramian train', or evaluation files")
    private List<Path> runs;

    @Override
    public Integer call() throws IOException {
        requireDistinct();
        for (Path run : runs.size() > 1 ? runs : List.<Path>of()) {
            TrainedModel.requireClassifier(run);
        }
        Path page = out == null ? defaultPage() : out;
        AtomicFile.requireEnding("--out", page, ".html");
        AtomicFile.require("--out", page, runs);
        if (runs.size() == 1 && TrainedModel.isDetector(runs.getFirst())) {
            DetectorReport.write(runs.getFirst(), page, Version.number());
        } else {
            RunReport.write(runs, page, Version.number());
        }
        console.out().println("report: " + page);
        return ExitCode.DONE;
    }

    private void requireDistinct() {
        Set<Path> seen = new HashSet<>();
        for (Path run : runs) {
            if (!seen.add(run.toAbsolutePath().normalize())) {
                throw new IllegalArgumentException("expected every run once, found " + run + " twice");
            }
        }
    }

    private Path defaultPage() {
        Path first = runs.getFirst();
        if (runs.size() > 1) {
            return first.toAbsolutePath().resolveSibling(OF_SEVERAL);
        }
        return Files.isDirectory(first) ? first.resolve(RunReport.FILE) : first.resolveSibling(RunReport.FILE);
    }
}
