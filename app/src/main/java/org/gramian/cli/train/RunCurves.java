package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.report.TrainingCurves;
import org.gramian.report.chart.ChartImage;
import org.gramian.run.History;

/** Learning curves of run folders. */
final class RunCurves {
    private static final String FILE = "history.csv";

    private RunCurves() {}

    /** Compares the accuracies of runs, each in its first fold. */
    static ChartImage of(List<Path> runs) throws IOException {
        List<TrainingCurves.Run> histories = new ArrayList<>();
        for (Path run : runs) {
            histories.add(new TrainingCurves.Run(
                    String.valueOf(run.getFileName()),
                    History.open(history(run)).epochs()));
        }
        return new ChartImage("accuracy by epoch", List.of(TrainingCurves.comparison(histories)));
    }

    private static Path history(Path run) throws IOException {
        return Stream.of(run.resolve(FILE), run.resolve("fold-1").resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(
                        () -> new IOException(run + ": expected a run folder with a file " + FILE + ", found none"));
    }
}
