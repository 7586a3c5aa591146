package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.gramian.report.CurvePoint;
import org.gramian.report.Curves;
import org.gramian.run.History;
import org.gramian.train.loop.TrainEvent.EpochDone;

/** The course of runs as points to draw, read from what they keep of each epoch. */
final class RunCurves {
    private static final String FILE = "history.csv";

    private RunCurves() {}

    /** Accuracies of runs, each of its first fold. */
    static Curves of(List<Path> runs) throws IOException {
        SequencedMap<String, List<CurvePoint>> courses = new LinkedHashMap<>();
        for (Path run : runs) {
            courses.put(
                    String.valueOf(run.getFileName()),
                    points(History.open(history(run)).epochs()));
        }
        return Curves.compare("accuracy by epoch", courses);
    }

    private static Path history(Path run) throws IOException {
        return Stream.of(run.resolve(FILE), run.resolve("fold-1").resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(
                        () -> new IOException(run + ": expected a run folder with a file " + FILE + ", found none"));
    }

    /** Points of epochs; judgements are drawn where they are on held-back images. */
    static List<CurvePoint> points(List<EpochDone> epochs) {
        boolean judged = epochs.stream().anyMatch(epoch -> epoch.validation().loss() != epoch.loss());
        return epochs.stream().map(epoch -> CurvePoint.of(epoch, judged)).toList();
    }
}
