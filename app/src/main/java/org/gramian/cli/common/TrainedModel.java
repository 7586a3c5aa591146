package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.anomaly.Detector;
import org.gramian.export.ExportedFile;
import org.gramian.model.ModelFile;
import org.gramian.run.ExistingRun;
import picocli.CommandLine.Parameters;

/** The first parameter of commands that look into a model: what {@code gramian train} wrote. */
public final class TrainedModel {
    private static final int SHOWN = 5;

    @Parameters(index = "0", paramLabel = "MODEL", description = "model file or run folder of 'gramian train'")
    private Path typed;

    public static final class MissingModelException extends IOException {
        private static final long serialVersionUID = 1L;

        public MissingModelException(String message) {
            super(message);
        }
    }

    public Path file() throws IOException {
        return find(typed);
    }

    /** Returns the file itself, or the model in a folder. */
    public static Path find(Path typed) throws IOException {
        Path inside = typed.resolve(ModelFile.NAME);
        if (!Files.isDirectory(typed) || Files.isRegularFile(inside)) {
            return Files.isDirectory(typed) ? inside : typed;
        }
        List<Path> below;
        try (Stream<Path> all = Files.list(typed)) {
            below = all.map(fold -> fold.resolve(ModelFile.NAME))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        }
        throw new MissingModelException(typed + (below.isEmpty() ? none(typed) : several(below)));
    }

    /** Returns whether a run, or a model file, is that of a detector of anomalies. */
    public static boolean isDetector(Path run) {
        return Detector.isDetector(ModelFile.in(run));
    }

    public static void requireClassifier(Path run) throws MissingModelException {
        if (isDetector(run)) {
            throw new MissingModelException(run + ": expected the run of a classifier, found a detector of anomalies;"
                    + " measure it with: " + CommandHint.of("evaluate", run, "DIR"));
        }
    }

    private static String none(Path folder) {
        return ": expected a model or a run folder, found a folder without " + ModelFile.NAME
                + (new ExistingRun(folder).exists()
                        ? "; the run is not finished; resume with: " + CommandHint.of("train", "--resume", folder)
                        : "");
    }

    private static String several(List<Path> models) {
        return ": expected one model, found " + models.size() + " below it; choose one of "
                + models.stream().limit(SHOWN).map(Path::toString).collect(Collectors.joining(", "))
                + (models.size() > SHOWN ? ", ..." : "");
    }

    /** Returns the file for commands that need more than predictions: gradients, or descriptors as training saw them. */
    public Path notExported() throws IOException {
        if (ExportedFile.isNamed(typed)) {
            throw new MissingModelException(typed
                    + ": expected a model of 'gramian train', found an ONNX file, which supports predictions only; "
                    + "use the " + ModelFile.NAME + " that it was exported from");
        }
        return file();
    }
}
